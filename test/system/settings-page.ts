/** Renders docs/settings.md from the settings in the code: `npm run docs:settings` writes the file, a test compares it. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { settings } from '../../bin/settings.js';

export const SETTINGS_PAGE = new URL('../../../docs/settings.md', import.meta.url);

const HEAD = `# Settings

<!-- Generated from the code by \`npm run docs:settings\`. Do not edit. -->

Every setting has three names by one rule: \`rooms.createPerHour\` in the configuration file,
\`ANNALS_ROOMS_CREATE_PER_HOUR\` in the environment, \`--rooms-create-per-hour\` as a flag. Flags win over the environment,
the environment over the file, the file over the default. The file is \`--config PATH\`, else \`annals.config.mjs\`, \`.js\`
or \`.json\` in the working directory; none is needed. An unknown key or a wrong value is refused at the start.
\`annals config\` shows the values in force and where each came from, with secrets masked.

| Setting | Default | Description |
| --- | --- | --- |
`;

const escaped = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function defaultOf(setting: object): string {
  if (!('default' in setting)) return '';
  const text = [setting.default].flat().join(', ');
  return text === '' ? 'none' : `\`${escaped(text)}\``;
}

/** The whole page as Markdown. */
export const renderSettings = (): string =>
  HEAD +
  Object.entries(settings)
    .map(([key, setting]) => `| \`${key}\` | ${defaultOf(setting)} | ${escaped(setting.description)} |\n`)
    .join('');

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(SETTINGS_PAGE, renderSettings());
