/** Event handlers by type: the compiler requires exactly one per event of a union. */

/** One handler for every event of a union discriminated by `type`. */
export type EventHandlers<Event extends Typed, Result> = {
  readonly [Type in Event['type']]: Handler<Extract<Event, { readonly type: Type }>, Result>['handle'];
};

interface Typed {
  readonly type: string;
}

/** Declared as a method: bivariant parameters let runners treat handlers of all services alike. */
interface Handler<Event, Result> {
  handle(event: Event): Result;
}

/** Returns the handler of an event, if any. The codec has validated that the data matches the type. */
export const handlerFor = <Event extends Typed, Result>(
  on: { readonly [type: string]: Handler<NoInfer<Event>, Result>['handle'] },
  { type }: Event,
): Handler<Event, Result>['handle'] | undefined => ownEntry(on, type);

/** Returns an own property of a table; ignores inherited ones such as `constructor`. */
export const ownEntry = <Entry>(table: { readonly [name: string]: Entry }, name: string): Entry | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
