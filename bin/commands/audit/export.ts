/** `annals audit export`: writes the transparency log as files. */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Argument } from 'commander';
import { hasFullTile, writeCheckpoint, writeTile } from '../../../adapters/filesystem/tile-directory.js';
import { cutTile, MissingTileError, parseCheckpoint, TILE_WIDTH, tilesOf } from '../../../application/audit/index.js';
import { AUDIT_SETTINGS } from '../../settings.js';
import type { Call, CommandSpec } from '../command.js';
import { withTransparencyLog } from './transparency-log.js';

export const exportAudit: CommandSpec = {
  description:
    'Writes the transparency log to a directory in the layout of C2SP tlog-tiles: checkpoint, tile/<level>/<n> and ' +
    'tile/entries/<n>. A directory of an earlier export is brought up to date. It contains no personal data: ' +
    'entries have hashes of the encrypted events.',
  examples: [
    ['audit export /srv/audit', 'for a web server, or for someone outside'],
    ['audit verify --offline /srv/audit --key annals+5f3c...', 'check it, anywhere'],
  ],
  arguments: [new Argument('<directory>', 'Target directory')],
  reads: () => AUDIT_SETTINGS,
  run: ({ config: { values }, args: [target = ''] }: Call) =>
    withTransparencyLog(values, async ({ ports, head: { checkpoint } }) => {
      const directory = resolve(target);
      const { size } = parseCheckpoint(checkpoint)!;
      mkdirSync(directory, { recursive: true });
      for (const { width, ...tile } of tilesOf(size)) {
        if (width === TILE_WIDTH && hasFullTile(directory, tile)) continue;
        const bytes = await ports.store.readTile(tile, width);
        if (!bytes) throw new MissingTileError(tile);
        writeTile(directory, tile, width, cutTile(tile, bytes, width));
      }
      // Last, as it promises the tiles.
      writeCheckpoint(directory, checkpoint);
      process.stdout.write(`${directory}: ${size.toLocaleString('en')} entries\n`);
      return 0;
    }),
};
