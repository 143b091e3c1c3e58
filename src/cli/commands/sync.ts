/**
 * `holdfast sync`: its names, options and help.
 */
import { Command } from 'commander'
import type { SyncOptions } from '../sync/sync-command.ts'
import { noProgressOption, noTimesOption, parallelOption } from './objects.ts'
import { type Done, dryRunOption, examples, jsonLinesOption, listValue, withDataAccess } from './options.ts'

/** Small ones; of large ones fewer, because their parts are in memory. */
const FILES_AT_ONCE = 32

export function syncCommand(done: Done): Command {
  return withDataAccess(new Command('sync'))
    .description('copy what differs between a folder and a prefix, one way: by size and time, or by content')
    .argument('<from>', 'a folder whose path begins with . or /, or bucket/prefix')
    .argument('<to>', 'a bucket/prefix or a folder, whichever <from> is not')
    .option('--delete', 'remove what exists only at the target, after everything is copied')
    .option('--checksum', 'compare contents instead of times where sizes are equal')
    .addOption(dryRunOption())
    .option(
      '--exclude <pattern>',
      "leave these paths alone on both sides, such as '*.tmp' or 'cache/'; may be repeated",
      listValue,
    )
    .option(
      '--include <pattern>',
      'of those that are excluded, not these; alone: only these; may be repeated',
      listValue,
    )
    .addOption(parallelOption(FILES_AT_ONCE))
    .addOption(noTimesOption())
    .addOption(noProgressOption())
    .addOption(jsonLinesOption())
    .addHelpText(
      'after',
      examples(
        'sync ./photos photos/2026',
        'sync ./photos photos/2026 --delete --dry-run',
        "sync ./site web --exclude '*.map' --exclude node_modules/",
        'sync photos/2026 /srv/photos --checksum --json',
      ),
    )
    .action(async (from: string, to: string, options: SyncOptions) => {
      const { sync } = await import('../sync/sync-command.ts')
      done(await sync(from, to, options))
    })
}
