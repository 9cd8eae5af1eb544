/** Addresses of services as URLs. */

/** Returns the URL of a server; IPv6 addresses get brackets. */
export const formatUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The URL of a service; as configured until it listens, possibly on any free port. */
export function createServiceUrl(host: string, port: number) {
  let url = formatUrl(host, port);
  return {
    url: (): string => url,
    listensOn(actual: string): void {
      url = actual;
    },
  };
}

/** Returns the URL that people use: the configured one, if any. */
export const publicUrl = (configured: string | undefined, url: () => string) => (): string => configured ?? url();
