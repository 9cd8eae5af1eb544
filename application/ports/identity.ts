/** What finding out who somebody is needs of the outside world: signed tokens, passwords, mail. */

/** What a signed token says; times in whole seconds. */
export interface Claims {
  readonly iat: number;
  readonly exp: number;
  readonly [claim: string]: unknown;
}

/** Tokens that only this installation can have made. The same claims are the same text. */
export interface SignedTokens {
  sign(claims: Claims): Promise<string>;
  /** What it says, if it was signed here; undefined for any other text. Whether its time is up is not looked at. */
  read(token: string): Promise<Claims | undefined>;
}

/** What is kept of a password: base64url. */
export interface Hashed {
  readonly salt: string;
  readonly hash: string;
}

/** Costly on purpose: done by turns for each of those it is done for. Both reject with `Unavailable` when too many ask at once. */
export interface PasswordHashing {
  /** With a fresh salt. */
  hash(password: string, whose?: string): Promise<Hashed>;
  /** Takes as long where there is nothing to compare with. */
  matches(password: string, hashed: Hashed | undefined, whose?: string): Promise<boolean>;
}

/** A number of failures within a window of time, and how many are allowed. */
export interface FailureCounter {
  readonly key: string;
  readonly most: number;
}

/** Counts failures within a window of time. */
export interface Failures {
  /** Milliseconds until none of these counters is at its limit; undefined if none is. */
  wait(counters: readonly FailureCounter[]): Promise<number | undefined>;
  /** Adds one failure to each of these counters; returns those that reach their limit by it. */
  count<Counter extends FailureCounter>(counters: readonly Counter[]): Promise<readonly Counter[]>;
}

export interface Mail {
  /** The same for the same mail, however often it is sent. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends mail. */
export interface Mailer {
  /** Whether it was taken; false where it was refused for good, or as often as it may be tried. */
  send(mail: Mail, signal: AbortSignal): Promise<boolean>;
}

/** Another server that says who somebody is (OAuth 2.0). */
export interface OAuthProvider {
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly userInfoUrl: string;
  /** Where the address is not in the profile: a list of `{email, primary, verified}`. */
  readonly emailsUrl?: string;
  /** Members of the profile that tell an address which the provider vouches for, where others can't be trusted. */
  readonly addresses?: readonly string[];
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  /** Separated by spaces. */
  readonly scopes: string;
  readonly authorizationParams?: { readonly [name: string]: string };
}

/** What a provider says of somebody. */
export interface Profile {
  /** Undefined where it has none that it vouches for. */
  readonly email: string | undefined;
  readonly name: string | undefined;
}

export interface OAuthClient {
  /** Server to server; rejects when the provider does not answer in time, or as it should. `verifier` is PKCE's. */
  profile(provider: OAuthProvider, code: string, verifier: string): Promise<Profile>;
}
