/** Types inferred for a route's functions from its path, schemas and admission: wrong uses do not compile. */
import { expect } from 'chai';
import { type Admit, type ParamsOf, type Request, route } from '../../adapters/http/server/route.js';
import { listLimit } from '../../adapters/http/server/validate.js';
import type { Rejection } from '../../domain/shared/decider.js';
import { object } from '../../domain/shared/schema.js';
import { serveToys } from './toy-http-service.js';

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
/** Compiles where both are the same type. */
const same = <One, Other>(_: Same<One, Other>) => {};

const common = { summary: 'A toy', answers: { 200: { description: 'Done' } } } as const;
const OK = { status: 200 };
const text = { type: 'string' } as const;

interface Child {
  readonly name: string;
}
const admit: Admit<Child> = ({ bearer }) =>
  bearer === undefined ? { rejected: 'toys/unknown', kind: 'unauthenticated' } : { name: bearer };

describe('types of a route', () => {
  it('has the parameters of its path, and no others', () => {
    same<ParamsOf<'/toys'>, Record<never, string>>(true);
    same<ParamsOf<'/toys/:toyId/parts/:partId/x'>, { readonly toyId: string; readonly partId: string }>(true);
    route({
      ...common,
      method: 'GET',
      path: '/boxes/:boxId/toys/:toyId',
      handle({ params }) {
        same<typeof params, { readonly boxId: string; readonly toyId: string }>(true);
        // @ts-expect-error The path has no such parameter.
        expect(params.partId).to.equal(undefined);
        return OK;
      },
    });
    const inBox: Admit<Child, Pick<Request<unknown, unknown, { readonly boxId: string }>, 'params'>> = ({
      params,
    }) => ({ name: params.boxId });
    route({ ...common, method: 'GET', path: '/boxes/:boxId', admit: inBox, handle: () => OK });
    // @ts-expect-error The path lacks a parameter that admission needs.
    route({ ...common, method: 'GET', path: '/toys/:toyId', admit: inBox, handle: () => OK });
  });

  it('has the body type of its schema', () => {
    route({
      ...common,
      method: 'POST',
      path: '/toys',
      body: object({ name: text }, { size: { enum: ['small', 'large'] }, colours: { type: 'array', items: text } }),
      handle({ body }) {
        interface Toy {
          readonly name: string;
          readonly size?: 'small' | 'large';
          readonly colours?: readonly string[];
        }
        const toy: Toy = body;
        same<typeof body.name, string>(true);
        // @ts-expect-error Optional fields may be missing.
        same<typeof body.size, 'small' | 'large'>(true);
        // @ts-expect-error Fields that the schema does not name are dropped.
        expect(body.price).to.equal(undefined);
        // @ts-expect-error The body is read-only.
        body.name = toy.name;
        return OK;
      },
    });
    route({
      ...common,
      method: 'POST',
      path: '/drawings',
      body: 'bytes',
      handle({ body }) {
        same<typeof body, Buffer>(true);
        return OK;
      },
    });
    route({
      ...common,
      method: 'POST',
      path: '/bells',
      handle({ body }) {
        // @ts-expect-error The body is unknown without a schema.
        expect(body.name).to.equal(undefined);
        return OK;
      },
    });
  });

  it('has the query type of its schema, with defaults applied', () => {
    route({
      ...common,
      method: 'GET',
      path: '/toys',
      query: {
        type: 'object',
        required: ['shelf'],
        properties: {
          shelf: text,
          limit: listLimit({ initial: 10, max: 20 }),
          order: { enum: ['asc', 'desc'], default: 'asc' },
          colour: { type: ['string', 'array'], items: text },
        },
      },
      admit({ query }) {
        // @ts-expect-error Admission runs before the query is validated.
        const shelf: string = query.shelf;
        return { name: shelf };
      },
      handle({ query }, { name }) {
        same<typeof query.shelf, string>(true);
        same<typeof query.limit, number>(true);
        same<typeof query.order, 'asc' | 'desc'>(true);
        same<typeof query.colour, string | readonly string[] | undefined>(true);
        same<typeof name, string>(true);
        return OK;
      },
    });
  });

  it('has the caller type of its admission, without rejections', () => {
    route({
      ...common,
      method: 'GET',
      path: '/toys',
      admit: async (request): Promise<Child | Rejection> => {
        const caller = await admit(request);
        return 'name' in caller ? caller : { rejected: 'toys/unknown', kind: 'unauthenticated' };
      },
      handle(_, caller) {
        same<typeof caller, Child>(true);
        return OK;
      },
    });
    route({
      ...common,
      method: 'GET',
      path: '/toys',
      handle(_, caller) {
        same<typeof caller, undefined>(true);
        return OK;
      },
    });
    route({
      ...common,
      method: 'GET',
      path: '/toys',
      // @ts-expect-error The handler expects another caller than admission returns.
      admit,
      handle: (_, { age }: { age: number }) => ({ status: age }),
    });
  });

  it('receives the values that the types describe', async () => {
    const whole = route({
      ...common,
      method: 'PUT',
      path: '/boxes/:boxId',
      body: object({ name: text }),
      query: { type: 'object', properties: { limit: listLimit({ initial: 10, max: 20 }) } },
      admit,
      handle: ({ params: { boxId }, body: { name }, query: { limit } }, child) => ({
        status: 200,
        body: { boxId, name, limit, child },
      }),
    });
    const toys = await serveToys([whole]);
    const { json } = await toys.ask('/boxes/b1', {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer Ada' },
      body: '{"name":"bear","price":3}',
    });
    await toys.close();
    expect(json).to.deep.equal({ boxId: 'b1', name: 'bear', limit: 10, child: { name: 'Ada' } });
  });
});
