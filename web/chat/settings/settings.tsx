/** Settings of the account and of the server, over the workspace. */
import type { User } from '../session.js';
import { closeSettings } from '../settings-route.js';

export const Settings = ({ path, user }: { path: readonly string[]; user: User }) => (
  <section>
    {path.join('/')} {user.userName}
    <button type="button" onClick={closeSettings}>
      Close
    </button>
  </section>
);
