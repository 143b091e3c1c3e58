/**
 * `holdfast sync`: its names, options and help.
 */
import { Command } from 'commander'
import type { SyncOptions } from '../sync/sync-command.ts'
import { noProgressOption, parallelOption } from './objects.ts'
import { type Done, dryRunOption, examples, jsonLinesOption, withDataAccess } from './options.ts'

export function syncCommand(done: Done): Command {
  return withDataAccess(new Command('sync'))
    .description('copy what differs between a folder and a prefix, one way: by size and time, or by content')
    .argument('<from>', 'a folder whose path begins with . or /, or bucket/prefix')
    .argument('<to>', 'a bucket/prefix or a folder, whichever <from> is not')
    .option('--delete', 'remove what exists only at the target, after everything is copied')
    .option('--checksum', 'compare contents instead of times where sizes are equal')
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
