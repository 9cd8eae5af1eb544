/** The keys of the page. */
import { Dialog } from '../../shared/components/dialog.js';
import { texts } from '../texts/workspace.js';

export const ShortcutsDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={texts.shortcuts} closeLabel={texts.close} onClose={onClose}>
    <dl class="shortcuts">
      {texts.shortcutList.map(([keys, effect]) => (
        <div key={effect}>
          <dt>{effect}</dt>
          <dd>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
    <p class="quiet">{texts.formatHint}</p>
  </Dialog>
);
