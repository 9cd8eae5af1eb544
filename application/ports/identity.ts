/** Ports for authentication: signed tokens, password hashing, mail, OAuth. */

/** Claims of a signed token; times in whole seconds. */
export interface Claims {
  readonly iat: number;
  readonly exp: number;
  readonly [claim: string]: unknown;
}

/** Tokens signed by this installation. Deterministic: equal claims give equal tokens. */
export interface SignedTokens {
  sign(claims: Claims): Promise<string>;
  /** Returns the claims if the signature is valid, else undefined. Does not check the expiry. */
  read(token: string): Promise<Claims | undefined>;
}

/** Stored password hash, base64url. */
export interface Hashed {
  readonly salt: string;
  readonly hash: string;
}

/** Password hashing: expensive on purpose, queued fairly per tenant. Throws `UnavailableError` if too many wait. */
export interface PasswordHashing {
  /** Hashes with a new salt. */
  hash(password: string, tenant?: string): Promise<Hashed>;
  /** Takes the same time without a hash, so that timing does not reveal which users exist. */
  matches(password: string, hashed: Hashed | undefined, tenant?: string): Promise<boolean>;
}

export interface Mail {
  /** Stable over all attempts to send the mail. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Additional header fields. */
  readonly headers?: { readonly [name: string]: string };
}

export interface Mailer {
  /** Returns whether the server accepted it; false if refused permanently or after the last attempt. */
  send(mail: Mail, signal: AbortSignal): Promise<boolean>;
}

/** OAuth 2.0 identity provider. */
export interface OAuthProvider {
  readonly id: string;
  /** Display name. */
  readonly name: string;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly userInfoUrl: string;
  /** URL of a list of `{email, primary, verified}`, if the profile contains no address. */
  readonly emailsUrl?: string;
  /** Profile members with a verified address, if other members cannot be trusted. */
  readonly addresses?: readonly string[];
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  /** Space-separated. */
  readonly scopes: string;
  readonly authorizationParams?: { readonly [name: string]: string };
}

/** User profile from a provider. */
export interface Profile {
  /** Verified address; undefined if there is none. */
  readonly email: string | undefined;
  readonly name: string | undefined;
}

/** `verifier`: proof for PKCE, kept until the code is exchanged. */
export interface OAuthClient {
  /** Returns the page of the provider at which a user grants access. */
  authorizationUrl(provider: OAuthProvider, state: string, verifier: string): string;
  /** Exchanges a code for the profile. Throws if the provider times out or answers incorrectly. */
  profile(provider: OAuthProvider, code: string, verifier: string): Promise<Profile>;
}
