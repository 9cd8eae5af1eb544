/** The name last used on this device, as a default. */
import { stored } from '../shared/storage.js';

export const ownName = stored('rooms-name', '');
