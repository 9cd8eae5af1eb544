/** Port for parsing user-agent strings. */

export interface UserAgent {
  /** Without version, for example `Firefox`; absent if unknown. */
  readonly browser?: string;
  readonly os?: string;
  /** `desktop`, `mobile`, `tablet`, ... */
  readonly device?: string;
}

export interface UserAgentParser {
  read(userAgent: string): UserAgent;
  /** Whether it is a known bot. */
  isBot(userAgent: string): boolean;
}
