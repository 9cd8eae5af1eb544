/** The name of the server. */
import { Form, TextField } from '../../shared/components/form.js';
import { toast } from '../../shared/components/toasts.js';
import { Loaded, useLoad } from '../../shared/use-load.js';
import { http } from '../api.js';
import { adminTexts } from '../texts/admin.js';
import { settingsTexts } from '../texts/settings.js';

const texts = adminTexts.server;

export function ServerSection() {
  const settings = useLoad((signal) => http.json<{ name: string }>('GET', 'server/settings', { signal }));
  return (
    <Loaded of={settings} loadingLabel={settingsTexts.loading} retryLabel={settingsTexts.retry}>
      {({ name }) => (
        <div class="settings-part">
          <Form
            submitLabel={settingsTexts.save}
            onSubmit={async (values) => {
              await http.send('PUT', 'server/settings', { body: { name: values.get('name') } });
              toast({ text: settingsTexts.saved });
            }}
          >
            <TextField
              label={texts.name}
              hint={texts.nameHint}
              name="name"
              required
              maxLength={80}
              autocomplete="off"
              defaultValue={name}
            />
          </Form>
        </div>
      )}
    </Loaded>
  );
}
