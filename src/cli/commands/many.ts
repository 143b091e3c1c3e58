/**
 * `holdfast mv`, `du`, `find`, `diff`, `watch`: their names, options and help.
 */
import { Command, InvalidArgumentError } from 'commander'
import type { DiffOptions } from '../many/diff-command.ts'
import type { FindOptions } from '../many/find-command.ts'
import type { MoveOptions } from '../many/move-command.ts'
import type { UsageBelowOptions } from '../many/usage-below.ts'
import type { WatchOptions } from '../many/watch-command.ts'
import {
  countValue,
  type Done,
  dryRunOption,
  durationValue,
  examples,
  jsonLinesOption,
  sizeValue,
  withDataAccess,
} from './options.ts'

export function moveCommand(done: Done): Command {
  return withDataAccess(new Command('mv'))
    .description('move an object within the store, or those that match a pattern')
    .argument('<from>', "bucket/key, or a pattern such as 'photos/*.jpg'")
    .argument('<to>', 'bucket/key, or a bucket or prefix with a slash at its end to keep the name')
    .option('-r, --recursive', 'everything below the prefix, below the other')
    .addOption(dryRunOption())
    .addOption(jsonLinesOption())
    .addHelpText(
      'after',
      examples(
        'mv photos/cat.jpg photos/2026/',
        "mv 'photos/*.jpg' archive/ --dry-run",
        'mv photos/2025 archive/2025 --recursive',
      ),
    )
    .action(async (from: string, to: string, options: MoveOptions) => {
      const { move } = await import('../many/move-command.ts')
      done(await move(from, to, options))
    })
}

const DEPTH_MAX = 64

export function usageBelowCommand(done: Done): Command {
  return withDataAccess(new Command('du'))
    .description('sum up bytes and objects below a prefix, folder by folder')
    .argument('[path]', 'bucket, or bucket/prefix (default: every bucket)')
    .option('--depth <n>', 'levels of folders that are shown; 0: only the sum', depthValue, 1)
    .option('--versions', 'all versions, not only the latest')
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('du photos', 'du photos/2026/ --depth 2 --versions'))
    .action(async (path: string | undefined, options: UsageBelowOptions) => {
      const { usageBelow } = await import('../many/usage-below.ts')
      done(await usageBelow(path, options))
    })
}

function depthValue(text: string): number {
  const depth = /^\d{1,2}$/.test(text) ? Number(text) : Infinity
  if (depth <= DEPTH_MAX) return depth
  throw new InvalidArgumentError(`expected a whole number from 0 to ${DEPTH_MAX}`)
}

export function findCommand(done: Done): Command {
  return withDataAccess(new Command('find'))
    .description('list the objects below a prefix that have a name, a size or an age')
    .argument('<path>', 'bucket, or bucket/prefix')
    .option('--name <pattern>', "of the last part of the key, such as '*.jpg'")
    .option('--path <pattern>', "of the whole key, such as '**/tmp/*'")
    .option('--larger <size>', 'more than so much, such as 10MB', sizeValue)
    .option('--smaller <size>', 'less than so much', sizeValue)
    .option('--newer <duration>', 'stored less than so long ago, such as 7d', durationValue)
    .option('--older <duration>', 'stored more than so long ago', durationValue)
    .option('--print0', 'end each name with a zero byte, for xargs -0')
    .addOption(jsonLinesOption())
    .addHelpText(
      'after',
      examples(
        "find photos --name '*.raw' --larger 100MB",
        'find logs --older 90d --print0 | xargs -0 -n1 holdfast rm',
      ),
    )
    .action(async (path: string, options: FindOptions) => {
      const { find } = await import('../many/find-command.ts')
      done(await find(path, options))
    })
}

export function diffCommand(done: Done): Command {
  return withDataAccess(new Command('diff'))
    .description(
      'show what differs between a folder and a prefix, or two prefixes; ends with 1 if something does',
    )
    .argument('<first>', 'a folder whose path begins with . or /, or bucket/prefix')
    .argument('<second>', 'the same')
    .option('--checksum', 'compare contents instead of times where sizes are equal')
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('diff ./photos photos/2026', 'diff photos/2026 archive/2026'))
    .action(async (first: string, second: string, options: DiffOptions) => {
      const { diff } = await import('../many/diff-command.ts')
      done(await diff(first, second, options))
    })
}

const LISTINGS_MAX = 1_000_000

export function watchCommand(done: Done): Command {
  return withDataAccess(new Command('watch'))
    .description('print what comes, changes and goes below a prefix, by listing it again and again')
    .argument('<path>', 'bucket, or bucket/prefix')
    .option('--every <duration>', 'time between two listings', durationValue, 5_000)
    .option('--count <n>', 'end after so many listings', countValue(LISTINGS_MAX))
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('watch photos/in/ --every 10s', 'watch photos --json'))
    .action(async (path: string, options: WatchOptions) => {
      const { watch } = await import('../many/watch-command.ts')
      done(await watch(path, options))
    })
}
