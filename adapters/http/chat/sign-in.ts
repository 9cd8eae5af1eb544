/** Routes of signing in: by email only (development), by mailed link, or with a password, depending on the mode. */
import type { Links } from '../../../application/chat/sign-in/links.js';
import type { SignIn } from '../../../application/chat/sign-in/open-session.js';
import type { PasswordSignIn } from '../../../application/chat/sign-in/passwords.js';
import { type Budget, createFairSemaphore } from '../../../application/concurrency/index.js';
import type { Purpose } from '../../../domain/chat/events/sign-in.js';
import { type DataOf, isRejection } from '../../../domain/shared/index.js';
import type { StepTime } from '../hardening/constant-time.js';
import type { Answer } from '../server/answer.js';
import { overBudgetProblem } from '../server/budgets.js';
import { networkOf, type RateLimit } from '../server/client-network.js';
import { answerLinkRequest } from '../server/link-request.js';
import type { Guard } from '../server/policy.js';
import { type Request, type Route, route } from '../server/route.js';
import { anonymousContext } from './auth.js';
import * as schemas from './schemas.js';
import { fromOf } from './session-routes.js';

const SIGNED_IN = { description: 'Signed in', schema: schemas.signedIn };

/** @param guard Rejects pages of other sites, as no secret is required. */
export const devLoginRoute = (signIn: SignIn, guard: Guard): Route =>
  route({
    method: 'POST',
    path: '/auth/dev-login',
    summary: 'Sign in with only an email',
    description:
      'In development mode only. Creates unknown users, unless invites are required. Allowed for pages of this ' +
      'machine, of `auth.appUrl`, and of origins listed in `server.allowedOrigins`.',
    body: schemas.emailBody,
    answers: {
      200: { description: 'Signed in', schema: schemas.devSignedIn },
      401: { description: 'There is no such user, and an invite is required' },
      403: { description: 'The request was sent by a page of another site, or to another host name' },
    },
    admit: ({ method, headers }) => guard({ method, headers, localAddress: undefined }),
    async handle(request) {
      const result = await signIn.signInWithEmail(request.body.email, fromOf(request), anonymousContext(request));
      if (isRejection(result)) return result;
      const { user, accessToken: token, ...rest } = result.body;
      const { id, userName, isAdmin } = user;
      return { body: { user: { id, userName, isAdmin }, token, ...rest }, position: result.position };
    },
  });

export const LINK_SENT = {
  success: true,
  message: 'If this email belongs to a user, an email has been sent',
};

/** Route that requests a link to an email. `links` is undefined if no mail can be sent: the answer is the same. */
export const linkRoute = (
  { path, summary, purpose }: { readonly path: string; readonly summary: string; readonly purpose: Purpose },
  links: Pick<Links, 'request'> | undefined,
  perNetwork: RateLimit,
  time?: StepTime,
): Route =>
  route({
    method: 'POST',
    path,
    summary,
    description: 'The response is the same for unknown emails. At most five emails per address in 15 minutes.',
    body: schemas.emailBody,
    answers: { 200: { description: 'Request accepted', schema: schemas.successMessage } },
    handle(request) {
      const answer = { body: LINK_SENT };
      if (!links) return answer;
      const options = { perNetwork, answer, time };
      return answerLinkRequest(request, options, () =>
        links.request(purpose, request.body.email, anonymousContext(request)),
      );
    },
  });

export function magicLinkRoutes(links: Links, signIn: SignIn, linksPerNetwork: RateLimit): readonly Route[] {
  const login = { path: '/auth/login', summary: 'Request a sign-in link', purpose: 'magic-link' } as const;
  const verify = route({
    method: 'POST',
    path: '/auth/verify',
    summary: 'Sign in by the token of a link',
    description: 'The token of the link as a bearer, or in the body. It works once.',
    security: 'link',
    body: schemas.verifyBody,
    answers: { 200: SIGNED_IN, 401: { description: 'The token is invalid, used or expired' } },
    handle(request) {
      const { token = request.bearer, email } = request.body;
      return signIn.signInWithLink(token, email, fromOf(request), anonymousContext(request));
    },
  });
  return [linkRoute(login, links, linksPerNetwork), verify];
}

export interface PasswordDeps {
  readonly passwords: PasswordSignIn;
  /** Undefined if no mail can be sent. */
  readonly links: Links | undefined;
  readonly linksPerNetwork: RateLimit;
  readonly registersPerNetwork: RateLimit;
  /** Requests that need password hashing, running and queued. */
  readonly hashing: Budget;
  readonly isOpen: boolean;
}

/** Concurrent requests: more than concurrent hashes, as they also do other work. */
const CONCURRENCY = 4;

export function passwordRoutes(deps: PasswordDeps): readonly Route[] {
  const { passwords, links, linksPerNetwork, registersPerNetwork, hashing, isOpen } = deps;
  const semaphore = createFairSemaphore('a password', CONCURRENCY, hashing.limit);

  /** Queues work fairly by network, so that one network cannot block the others. */
  async function withHashing({ address }: Pick<Request, 'address'>, work: () => Promise<Answer>) {
    const network = networkOf(address);
    const slot = hashing.reserve(network);
    const shortage = slot.acquire(1);
    if (shortage) return overBudgetProblem(shortage);
    return semaphore(work, network).finally(slot.release);
  }

  const login = route({
    method: 'POST',
    path: '/auth/password-login',
    summary: 'Sign in with email and password',
    body: schemas.credentialsBody,
    answers: {
      200: SIGNED_IN,
      401: { description: 'Email or password is wrong' },
      429: {
        description:
          'Too many failures in 15 minutes: 10 for this email from this network, 50 from this network, or 1,000 for this email',
      },
    },
    handle: (request) =>
      withHashing(request, () => passwords.login(request.body, fromOf(request), anonymousContext(request))),
  });

  const reset = {
    path: '/auth/request-password-reset',
    summary: 'Request a link to set a password',
    purpose: 'reset',
  } as const;

  const setup = route({
    method: 'POST',
    path: '/auth/setup-password',
    summary: 'Set a password by the token of a link, and sign in',
    description:
      'The token of the link, in the body or as a bearer token. It works once; an invalid password does not use it up. ' +
      'All other sessions end.',
    security: 'link',
    body: schemas.setupBody,
    answers: { 200: SIGNED_IN, 400: { description: 'The token or the password is invalid' } },
    handle: (request) =>
      withHashing(request, () => {
        const { password, email, token = request.bearer } = request.body;
        return passwords.setup({ password, token, email }, fromOf(request), anonymousContext(request));
      }),
  });

  const register = route({
    method: 'POST',
    path: '/auth/register',
    summary: 'Register with email and password',
    body: schemas.credentialsBody,
    answers: {
      200: SIGNED_IN,
      400: { description: 'The email or the password is invalid, or the email is taken' },
    },
    quota: {
      perNetwork: registersPerNetwork,
      rejected: 'chat/too-many-registered',
      description: 'Too many users registered from this network, try again later',
    },
    handle: (request) =>
      withHashing(request, () => passwords.register(request.body, fromOf(request), anonymousContext(request))),
  });

  return [login, linkRoute(reset, links, linksPerNetwork), setup, ...(isOpen ? [register] : [])];
}

type PublicConfig = Omit<DataOf<typeof schemas.publicConfig>['auth'], 'routes'>;

/** Public configuration of sign-in. `routes`: paths of the sign-in routes of this mode by name. */
export function configRoutes(config: PublicConfig, routes: { readonly [name: string]: string }): readonly Route[] {
  const body = { auth: { ...config, routes: { ...routes, config: '/auth/config' } } };
  return ['/config.json', '/auth/config'].map((path) =>
    route({
      method: 'GET',
      path,
      summary: 'Configuration of sign-in',
      answers: { 200: { description: 'The configuration', schema: schemas.publicConfig } },
      handle: () => ({ body }),
    }),
  );
}
