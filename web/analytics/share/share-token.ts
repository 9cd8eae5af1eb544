/** Token of the public link that opened the page: the fragment of the address, which browsers do not send. */
export const shareToken: string | undefined = location.pathname.endsWith('/share') ? location.hash.slice(1) : undefined;
