/** What is done with events, by their names: one entry for each of a union, so that a forgotten or misspelt one does not build. */

/** A handler for every event of a union that are told apart by their `type`. */
export type EventHandlers<Event extends Named, Result> = {
  readonly [Type in Event['type']]: Handler<Extract<Event, { readonly type: Type }>, Result>['handle'];
};

interface Named {
  readonly type: string;
}

/** As a method: whoever runs handlers knows no event, and takes those of all services for the same. */
interface Handler<Event, Result> {
  handle(event: Event): Result;
}

/** The handler of an event, if there is one. That its data is that of its name has been seen to by the codec. */
export const handlerFor = <Event extends Named, Result>(
  on: { readonly [type: string]: Handler<NoInfer<Event>, Result>['handle'] },
  { type }: Event,
): Handler<Event, Result>['handle'] | undefined => ownEntry(on, type);

/** What a table has under a name of its own. */
export const ownEntry = <Entry>(table: { readonly [name: string]: Entry }, name: string): Entry | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
