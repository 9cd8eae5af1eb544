/** Addresses as they stand in URLs. */

/** How a door is called that listens there; an address of IPv6 stands in brackets. */
export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
