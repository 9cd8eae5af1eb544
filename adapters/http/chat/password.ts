/** Routes of signing in and registering with a password, and of resetting it, in password mode only. */
import type { Links } from '../../../application/chat/sign-in/one-time-links.js';
import type { PasswordSignIn } from '../../../application/chat/sign-in/password-sign-in.js';
import { type Budget, createFairSemaphore } from '../../../application/concurrency/index.js';
import type { Answer } from '../server/answer.js';
import { overBudgetProblem } from '../server/budgets.js';
import { networkOf, type RateLimit } from '../server/client-network.js';
import { type Request, type Route, route } from '../server/route.js';
import { anonymousContext } from './auth.js';
import { createLinkHandler, LINK_SENT } from './magic-link.js';
import * as schemas from './schemas.js';
import { fromOf } from './session-routes.js';

export interface PasswordDeps {
  readonly passwords: PasswordSignIn;
  readonly links: Links;
  readonly linksPerNetwork: RateLimit;
  readonly registersPerNetwork: RateLimit;
  /** Requests that need password hashing, running and queued. */
  readonly hashing: Budget;
  readonly hasEmail: boolean;
  readonly isOpen: boolean;
}

const SIGNED_IN = { description: 'Signed in', schema: schemas.signedIn };

/** Concurrent requests: more than concurrent hashes, as they also do other work. */
const CONCURRENCY = 4;

export function passwordRoutes({
  passwords,
  links,
  linksPerNetwork,
  registersPerNetwork,
  hashing,
  hasEmail,
  isOpen,
}: PasswordDeps): readonly Route[] {
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

  const requestReset = route({
    method: 'POST',
    path: '/auth/request-password-reset',
    summary: 'Request a link to set a password',
    description: 'The response is the same for unknown emails. At most five emails per address in 15 minutes.',
    body: schemas.emailBody,
    answers: { 200: { description: 'Request accepted', schema: schemas.successMessage } },
    handle: hasEmail ? createLinkHandler(links, 'reset', linksPerNetwork) : () => ({ status: 200, body: LINK_SENT }),
  });

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
      withHashing(request, async () => {
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

  return [login, requestReset, setup, ...(isOpen ? [register] : [])];
}
