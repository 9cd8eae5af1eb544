/** Token of the public link by which the page was opened: the fragment, which browsers send to nobody. */
export const shareToken: string | undefined = location.pathname.endsWith('/share') ? location.hash.slice(1) : undefined;
