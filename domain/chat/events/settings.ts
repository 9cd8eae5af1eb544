/** What happens to the settings of the server. */
import { event, object } from '../../shared/index.js';
import { id, text, time } from './words.js';

/** Whose key seals what the server is called. */
export const SETTINGS_SUBJECT = 'chat.settings-main';

/** What a server is called that nobody has named. */
export const SERVER_NAME = 'Annals';

export const settingsEvents = {
  ServerRenamed: event(object({ by: id, renamedAt: time, secret: object({ name: text }) }), {
    sealed: { subject: () => SETTINGS_SUBJECT, erased: { name: SERVER_NAME } },
  }),
} as const;
