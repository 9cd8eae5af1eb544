/** Schemas and the types derived from them agree: every value is checked by ajv and by the compiler. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { catalog as logs } from '../../../domain/logs/catalog.js';
import { catalog as rooms } from '../../../domain/rooms/catalog.js';
import { servedEvents } from '../../../domain/shared/active-projection.js';
import { type DataOf, object, oneOf, type Schema } from '../../../domain/shared/schema.js';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });

/** A value of the type is valid. */
const fits = <const S extends Schema>(schema: S, value: DataOf<S>) =>
  expect(ajv.validate(schema, value), JSON.stringify(value)).to.equal(true);

/** A value that is not of the type is invalid: `@ts-expect-error` precedes it. */
const refuses = <const S extends Schema>(schema: S, value: DataOf<S>) =>
  expect(ajv.validate(schema, value), JSON.stringify(value)).to.equal(false);

const text = { type: 'string' } as const;

describe('data of a schema', () => {
  it('has the type of the schema', () => {
    fits(text, 'a');
    // @ts-expect-error
    refuses(text, 1);
    fits({ type: 'integer' }, 1);
    // @ts-expect-error
    refuses({ type: 'integer' }, '1');
    fits({ type: 'number' }, 1.5);
    // @ts-expect-error
    refuses({ type: 'number' }, null);
    fits({ type: 'boolean' }, true);
    // @ts-expect-error
    refuses({ type: 'boolean' }, 0);
    fits({ type: 'null' }, null);
    // @ts-expect-error
    refuses({ type: 'null' }, 0);
  });

  it('has one of several types', () => {
    for (const value of ['a', 1, null]) fits({ type: ['string', 'integer', 'null'] }, value);
    // @ts-expect-error
    refuses({ type: ['string', 'null'] }, 1);
  });

  it('has one of the given constants', () => {
    fits({ const: 'EC' }, 'EC');
    // @ts-expect-error
    refuses({ const: 'EC' }, 'RSA');
    fits({ enum: ['a', 'b'] }, 'b');
    // @ts-expect-error
    refuses({ enum: ['a', 'b'] }, 'c');
  });

  it('has all required members, and may have optional ones', () => {
    const schema = object({ name: text }, { age: { type: 'integer' } });
    fits(schema, { name: 'Ada' });
    fits(schema, { name: 'Ada', age: 36 });
    // @ts-expect-error
    refuses(schema, { age: 36 });
    // @ts-expect-error
    refuses(schema, { name: 'Ada', age: 'many' });
    // @ts-expect-error
    refuses(schema, { name: null });
    fits(object({}, { name: text }), {});
  });

  it('has nested members', () => {
    const schema = object({ by: object({ name: text }) });
    fits(schema, { by: { name: 'Ada' } });
    // @ts-expect-error
    refuses(schema, { by: {} });
  });

  it('has arbitrary members if a schema is given for them', () => {
    const schema = { type: 'object', additionalProperties: { type: ['number', 'null'] } } as const;
    fits(schema, { a: 1, b: null });
    // @ts-expect-error
    refuses(schema, { a: 'one' });
  });

  it('has no further members if the schema is closed', () => {
    const schema = { ...object({ name: text }), additionalProperties: false } as const;
    fits(schema, { name: 'Ada' });
    // @ts-expect-error
    refuses(schema, { name: 'Ada', age: 36 });
  });

  it('has further members that match a pattern', () => {
    const schema = { type: 'object', properties: { a: text }, patternProperties: { '^f\\.': text } } as const;
    fits(schema, { a: 'b', 'f.level': 'info' });
  });

  it('has default values for missing members', () => {
    const schema = { type: 'object', properties: { limit: { type: 'integer', default: 10 } } } as const;
    // @ts-expect-error
    const data: DataOf<typeof schema> = {};
    expect(new Ajv2020({ useDefaults: true }).validate(schema, data)).to.equal(true);
    expect(data.limit.toFixed()).to.equal('10');
  });

  it('is an object or null if both types are given', () => {
    const schema = { ...object({ name: text }), type: ['object', 'null'] } as const;
    for (const value of [{ name: 'Ada' }, null]) fits(schema, value);
    // @ts-expect-error
    refuses(schema, {});
  });

  it('is a list of items', () => {
    fits({ type: 'array', items: text }, ['a', 'b']);
    fits({ type: 'array' }, ['a', 1, {}]);
    // @ts-expect-error
    refuses({ type: 'array', items: text }, ['a', 1]);
    // @ts-expect-error
    refuses({ type: 'array' }, {});
  });

  it('matches one of several schemas', () => {
    const schema = oneOf(object({ lines: text }), object({ records: { type: 'array' } }), { type: 'null' });
    for (const value of [{ lines: 'a' }, { records: [1] }, null]) fits(schema, value);
    // @ts-expect-error
    refuses(schema, { line: 'a' });
    // @ts-expect-error
    refuses(schema, { lines: [] });
  });

  it('is read-only', () => {
    const data: DataOf<ReturnType<typeof named>> = { name: 'Ada' };
    // @ts-expect-error
    data.name = 'Bob';
    expect(data.name).to.equal('Bob');
  });
  const named = () => object({ name: text });
});

/** Keywords that determine the type, and keywords that only ajv checks. */
const KEYWORDS: { readonly [keyword in keyof Required<Schema>]: 'typed' | 'checked' } = {
  type: 'typed',
  const: 'typed',
  enum: 'typed',
  anyOf: 'typed',
  properties: 'typed',
  required: 'typed',
  additionalProperties: 'typed',
  items: 'typed',
  minItems: 'checked',
  minLength: 'checked',
  maxLength: 'checked',
  pattern: 'checked',
  minimum: 'checked',
  maximum: 'checked',
};

/** All schemas nested in a schema. */
function* within(schema: Schema): Generator<Schema> {
  yield schema;
  const { anyOf = [], properties = {}, items, additionalProperties } = schema;
  for (const each of [...anyOf, ...Object.values(properties), items, additionalProperties])
    if (each) yield* within(each);
}

describe('the schemas of events', () => {
  const events = Object.entries({ ...rooms.events, ...logs.events, ...servedEvents });

  for (const [type, { versions }] of events)
    it(`use only known keywords: ${type}`, () => {
      for (const { schema } of versions)
        for (const each of within(schema)) expect(KEYWORDS).to.include.keys(...Object.keys(each));
    });
});
