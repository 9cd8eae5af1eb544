/** Returns the service of a stream or read model: the part of its name before the first dot. */
export const serviceOf = (name: string): string => name.slice(0, name.indexOf('.'));
