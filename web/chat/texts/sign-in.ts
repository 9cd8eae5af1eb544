/** Texts of signing in. */
import type { EndReason } from '../session.js';

export const signInTexts = {
  title: 'Sign in',
  email: 'Email',
  password: 'Password',
  newPassword: 'New password',
  repeatPassword: 'Repeat the password',
  passwordHint: 'At least 8 characters. A few unrelated words are easy to remember and hard to guess.',
  passwordsDiffer: 'The two passwords are not the same.',
  showPassword: 'Show the password',
  hidePassword: 'Hide the password',
  signIn: 'Sign in',
  or: 'or',
  continueWith: (provider: string) => `Continue with ${provider}`,
  devHint:
    'Development mode: an email is enough, and no mail is sent. Choose another mode before others can reach this server.',
  byInvitation: 'Members join by invitation of an admin.',

  sendLink: 'Mail me a link',
  linkHint: 'We mail you a link that signs you in. No password needed.',
  checkMail: 'Check your mail',
  linkSent: (email: string) => `If ${email} may sign in here, a mail with a link is on its way. The link works once.`,
  resetSent: (email: string) =>
    `If ${email} belongs to a user, a mail with a link to set a new password is on its way. The link works once.`,
  noMail: 'No mail after a few minutes? Look in the spam folder, or check the address for typing errors.',
  sendAgain: 'Send it again',
  sentAgain: 'Sent again.',
  otherEmail: 'Use another email',

  forgot: 'Forgot the password?',
  resetTitle: 'Set a new password',
  resetHint: 'We mail you a link to set a new password.',
  askAdmin: 'Forgot the password? An admin of this server can set a new one for you.',
  back: 'Back to sign-in',
  createAccount: 'Create an account',
  registerTitle: 'Create an account',
  haveAccount: 'I have an account',
  join: 'Create the account',

  linkTitle: 'Sign in',
  linkTitleFor: (email: string) => `Sign in as ${email}`,
  linkConfirm: 'You opened a sign-in link. Continue to use it in this browser.',
  linkRefused: 'This link has expired or was used before. Ask for a new one.',
  setTitle: 'Set your password',
  setPassword: 'Save and sign in',
  setRefused: 'This link has expired or was used before. Ask for a new one.',
  newLink: 'Get a new link',
  tokensTitle: (userName: string) => `Continue as ${userName}?`,
  tokensConfirm:
    'You came here signed in as this user, but did not ask for it in this tab. Continue only if this is your account.',
  continue: 'Continue',
  cancel: 'Cancel',
  otherUser: (userName: string) => `You are signed in as ${userName} now. Continuing ends that in this browser.`,

  loading: 'Loading…',
  retry: 'Try again',

  ended: {
    expired: 'Your session has ended. Sign in again to go on; what you typed is kept.',
    'signed-out': 'You are signed out.',
    left: 'You have left this server. Your account is deleted.',
  } satisfies { readonly [reason in EndReason]: string },

  /** By the `oauth_error` of the service. */
  oauthErrors: {
    invalid_state: 'The sign-in took too long or was started in another browser. Try again.',
    missing_code: 'The provider sent an incomplete answer. Try again.',
    access_denied: 'You did not allow the sign-in at the provider.',
    provider_error: 'The provider could not sign you in. Try again in a few minutes.',
    no_verified_email: 'Your account at the provider has no verified email. Verify it there first.',
    user_not_found: 'Nobody with the email of that account is a member here. Ask an admin for an invitation.',
    rate_limit_exceeded: 'Too many attempts from your network. Try again in 15 minutes.',
    server_error: 'The server could not complete the sign-in. Try again in a few minutes.',
  } as { readonly [code: string]: string },
  oauthErrorUnknown: 'The sign-in at the provider failed. Try again.',
} as const;
