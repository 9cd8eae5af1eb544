/** What a user agent says of itself; adapters know how to read it. */

export interface UserAgent {
  /** Without versions, for example `Firefox`, `Windows`; absent where it does not say. */
  readonly browser?: string;
  readonly os?: string;
  /** `desktop`, `mobile`, `tablet`, ... */
  readonly device?: string;
}

export interface UserAgentParser {
  read(userAgent: string): UserAgent;
  /** Whether it is known to be no person's. */
  isBot(userAgent: string): boolean;
}
