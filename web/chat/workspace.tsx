/** Channels, messages and threads. */

import type { User } from './session.js';
import { openSettings } from './settings-route.js';

export const Workspace = ({ user }: { user: User }) => (
  <main>
    {user.userName}
    <button type="button" onClick={() => openSettings('account')}>
      Account
    </button>
  </main>
);
