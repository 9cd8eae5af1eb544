/** Key subject of a day's visitor ids. */

/** `day`: `2026-11-22`, UTC. */
export const visitorSubject = ({ day }: { readonly day: string }): string => `analytics.visitors-${day}`;
