/** Signing in with a password, registering, and setting one by a link: in password mode only. */
import type { Links } from '../../../application/chat/sign-in/one-time-links.js';
import type { PasswordSignIn } from '../../../application/chat/sign-in/password-sign-in.js';
import { type Budget, createFairSemaphore } from '../../../application/concurrency/index.js';
import { networkOf } from '../../platform/config/client-address.js';
import type { Answer } from '../server/answer.js';
import { overBudget } from '../server/budgets.js';
import type { RateLimit } from '../server/rate-limit.js';
import { type Request, type Route, route } from '../server/route.js';
import { anonymousContext, answer } from './auth.js';
import { askForLink, SENT } from './request-link.js';
import * as schemas from './schemas.js';
import { fromOf } from './session-routes.js';

export interface PasswordDeps {
  readonly passwords: PasswordSignIn;
  readonly links: Links;
  readonly linksPerNetwork: RateLimit;
  readonly registersPerNetwork: RateLimit;
  /** Requests that passwords are hashed for: there are few at once, and each is waited for. */
  readonly hashing: Budget;
  /** Whether mail goes out at all. */
  readonly hasEmail: boolean;
  /** Whether anybody may come. */
  readonly isOpen: boolean;
}

const SIGNED_IN = { description: 'Signed in', schema: schemas.signedIn };

/** Those that something is done for: more than are hashed at a time, since there is more to it. */
const AT_ONCE = 4;

export function passwordRoutes({
  passwords,
  links,
  linksPerNetwork,
  registersPerNetwork,
  hashing,
  hasEmail,
  isOpen,
}: PasswordDeps): readonly Route[] {
  const inTurn = createFairSemaphore('a password', AT_ONCE, hashing.limit);

  /** However many come from one network, others are let in meanwhile, and it is their turn soon. */
  async function hashed({ address }: Pick<Request, 'address'>, work: () => Promise<Answer>) {
    const network = networkOf(address);
    const place = hashing.reserve(network);
    const lack = place.acquire(1);
    if (lack) return overBudget(lack);
    return inTurn(work, network).finally(place.release);
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
          'Within 15 minutes 10 failures for this email from this network, 50 from this network, or 1,000 for this email',
      },
    },
    handle: (request) =>
      hashed(request, async () =>
        answer(await passwords.login(request.body, fromOf(request), anonymousContext(request))),
      ),
  });

  const requestReset = route({
    method: 'POST',
    path: '/auth/request-password-reset',
    summary: 'Ask for a link to set a password with',
    description: 'The answer is the same whether or not anybody has this email. Five mails an address in 15 minutes.',
    body: schemas.emailBody,
    answers: { 200: { description: 'Taken note of', schema: schemas.told } },
    handle: hasEmail ? askForLink(links, 'reset', linksPerNetwork) : () => ({ status: 200, body: SENT }),
  });

  const setup = route({
    method: 'POST',
    path: '/auth/setup-password',
    summary: 'Set a password by a link, and sign in',
    description:
      'The token of the link in the body, or as a bearer. It works once; a password that is none does not spend it. ' +
      'All other sessions end.',
    security: 'link',
    body: schemas.setupBody,
    answers: { 200: SIGNED_IN, 400: { description: 'The token or the password is none' } },
    handle: (request) =>
      hashed(request, async () => {
        const { password, email, token = request.bearer } = request.body;
        return answer(await passwords.setup({ password, token, email }, fromOf(request), anonymousContext(request)));
      }),
  });

  const register = route({
    method: 'POST',
    path: '/auth/register',
    summary: 'Become a user with email and password',
    body: schemas.credentialsBody,
    answers: {
      200: SIGNED_IN,
      400: { description: 'The email or the password is none, or the email is taken' },
    },
    quota: {
      perNetwork: registersPerNetwork,
      rejected: 'chat/too-many-registered',
      description: 'Too many have registered from this network',
    },
    handle: (request) =>
      hashed(request, async () =>
        answer(await passwords.register(request.body, fromOf(request), anonymousContext(request))),
      ),
  });

  return [login, requestReset, setup, ...(isOpen ? [register] : [])];
}
