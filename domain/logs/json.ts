/** JSON as loggers write it: what a record is made of, and how deep it may go. */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** False for what would overflow the stack of everyone who walks it. */
export function isShallow(value: Json, most: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (most === 0) return false;
  for (const member of Object.values(value)) if (!isShallow(member, most - 1)) return false;
  return true;
}
