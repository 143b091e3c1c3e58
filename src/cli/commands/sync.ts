/**
 * `holdfast sync`: its names, options and help.
 */
import { Command } from 'commander'
import type { SyncOptions } from '../sync/sync-command.ts'
import { noProgressOption, parallelOption } from './objects.ts'
import { type Done, dryRunOption, examples, jsonLinesOption, withDataAccess } from './options.ts'

export function syncCommand(done: Done): Command {
  return withDataAccess(new Command('sync'))
    .description(
      'make a prefix like a folder, or a folder like a prefix: what differs in size, or is newer, is copied',
    )
    .argument('<from>', 'a folder that begins with . or /, or bucket/prefix')
    .argument('<to>', 'the other of the two')
    .option('--delete', 'remove what only the target has, after everything was copied')
    .option('--checksum', 'compare bytes where sizes are the same, not times')
    .addOption(dryRunOption())
    .addOption(parallelOption())
    .addOption(noProgressOption())
    .addOption(jsonLinesOption())
    .addHelpText(
      'after',
      examples(
        'sync ./photos photos/2026',
        'sync ./photos photos/2026 --delete --dry-run',
        'sync photos/2026 /srv/photos --checksum --json',
      ),
    )
    .action(async (from: string, to: string, options: SyncOptions) => {
      const { sync } = await import('../sync/sync-command.ts')
      done(await sync(from, to, options))
    })
}
