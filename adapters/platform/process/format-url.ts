/** Formats addresses as URLs. */

/** Returns the URL of a server; IPv6 addresses get brackets. */
export const formatUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
