/** The services of the program, loaded on demand: one that a process does not run costs it neither time nor memory. */
import type { Service } from '../node/service.js';
import { type ServiceName, serviceNames } from '../settings.js';

const loaders: { readonly [name in ServiceName]: () => Promise<Service> } = {
  chat: async () => (await import('./chat.js')).chat,
  meeting: async () => (await import('./meeting.js')).meeting,
  analytics: async () => (await import('./analytics.js')).analytics,
  logs: async () => (await import('./logs.js')).logs,
  rooms: async () => (await import('./rooms.js')).rooms,
};

export const loadServices = (names: readonly ServiceName[] = serviceNames): Promise<readonly Service[]> =>
  Promise.all(names.map((name) => loaders[name]()));
