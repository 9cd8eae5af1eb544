/** JSON schema types used in chat events. */

export const id = { type: 'string', minLength: 1 } as const;
/** Unix ms. */
export const time = { type: 'integer', minimum: 0 } as const;
export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const count = { type: 'integer', minimum: 0 } as const;
