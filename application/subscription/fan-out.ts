/** Fan-out: passes an event to several listeners, even if some of them throw. */

/** Calls all listeners in order; throws an `AggregateError` afterwards if any has thrown. */
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
    if (failures.length > 0) throw new AggregateError(failures, 'some listeners failed to process the event');
  };
