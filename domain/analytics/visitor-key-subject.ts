/** Under whose key the visitors of a day are told apart. */

/** `day`: `2026-11-22`, UTC. */
export const visitorSubject = ({ day }: { readonly day: string }): string => `analytics.visitors-${day}`;
