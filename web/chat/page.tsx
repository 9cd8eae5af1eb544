/** Entry point: shows the forms of sign-in, or the workspace with the settings over it. */
import { render } from 'preact';
import { Toasts } from '../shared/components/toasts.js';
import { byId } from '../shared/dom.js';
import { checkSession } from './api.js';
import { refuseOtherDrops } from './composer/file-drop.js';
import { session } from './session.js';
import { Settings } from './settings/settings.js';
import { settingsPath } from './settings-route.js';
import { entry } from './sign-in/entry.js';
import { SignIn } from './sign-in/sign-in.js';
import { texts } from './texts.js';
import { Workspace } from './workspace.js';

document.title = texts.title;

function View() {
  const user = session.value?.user;
  const isConfirming = entry.value !== undefined && entry.value.kind !== 'oauth-error';
  if (!user || isConfirming) return <SignIn />;
  const path = settingsPath.value;
  return (
    <>
      <div class="workspace-frame" inert={path !== undefined}>
        <Workspace key={user.id} user={user} />
      </div>
      {path && <Settings key={user.id} path={path} user={user} />}
    </>
  );
}

const App = () => (
  <>
    <View />
    <Toasts />
  </>
);

refuseOtherDrops();
render(<App />, byId('app'));
// Offline, the page goes on with what it knows.
checkSession().catch(() => {});
