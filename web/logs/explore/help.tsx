/** Dialog with the keys and the language of the query bar. */
import { Dialog } from '../../shared/components/dialog.js';
import { texts } from '../texts.js';
import { help } from './help-state.js';

export function Help() {
  if (!help.value) return null;
  return (
    <Dialog
      title={texts.help.title}
      wide
      onClose={() => {
        help.value = false;
      }}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the text must be scrollable by keyboard */}
      <div class="help" tabIndex={0}>
        <section>
          <h3>{texts.help.query}</h3>
          <dl>
            {texts.help.syntax.map(([example, meaning]) => (
              <div key={example}>
                <dt>
                  <code>{example}</code>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
          <p class="quiet">{texts.help.and}</p>
        </section>
        <section>
          <h3>{texts.help.keys}</h3>
          <dl>
            {texts.help.shortcuts.map(([keys, meaning]) => (
              <div key={keys}>
                <dt>
                  <kbd>{keys}</kbd>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </Dialog>
  );
}
