/** The service that a stream or a read model is of: its one word stands before the first dot of the name. */
export const serviceOf = (name: string): string => name.slice(0, name.indexOf('.'));
