/** What one event is told to: several of a service, none of which may keep it from the others. */

/** Tells all of them in order, whatever becomes of it at each. Throws what failed once all are told. */
export const fanOut =
  <Event>(...listeners: readonly ((event: Event) => void)[]) =>
  (event: Event): void => {
    const failures: unknown[] = [];
    for (const listener of listeners)
      try {
        listener(event);
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw new AggregateError(failures, 'not everybody could take the event');
  };
