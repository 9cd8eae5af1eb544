/** `annals logs`: the commands that talk to a running log service. */
import { Command } from 'commander';
import { toCommander } from '../command.js';
import { aggregate } from './aggregate.js';
import { importLogs } from './import.js';
import { query } from './query.js';
import { tail } from './tail.js';

/** A command of commands, which behaves as its parent in help and errors. */
export function logsCommands(parent: Command, exit: (code: number) => void): Command {
  const group = new Command('logs')
    .summary('Query, count, watch and import log records')
    .description('Talks to the log service over its API, here or elsewhere.')
    .copyInheritedSettings(parent);
  for (const spec of [query, aggregate, tail, importLogs]) {
    group.addCommand(toCommander(spec, exit).copyInheritedSettings(group));
  }
  return group;
}
