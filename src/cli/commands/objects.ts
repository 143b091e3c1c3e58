/**
 * `holdfast ls`, `put`, `get`, `rm`, `cp`, `stat`, `sign`: their names, options and help.
 */
import { Command, InvalidArgumentError, Option } from 'commander'
import type { GetOptions } from '../objects/get-command.ts'
import type { ListOptions } from '../objects/list-command.ts'
import type { CopyOptions, SignOptions, StatOptions } from '../objects/object-commands.ts'
import { PART_BYTES_MAX, PART_BYTES_MIN } from '../../client/parts.ts'
import type { PutOptions } from '../objects/put-command.ts'
import type { TokenOptions } from '../objects/token-command.ts'
import type { RemoveOptions } from '../objects/remove-command.ts'
import {
  countValue,
  type Done,
  dryRunOption,
  durationValue,
  examples,
  jsonLinesOption,
  jsonOption,
  pairValue,
  sizeValue,
  withDataAccess,
} from './options.ts'

/** An upload holds this many parts and one more in memory. */
const PARALLEL_MAX = 64

export const versionOption = (): Option => new Option('--version-id <id>', 'this version, not the latest')
export const noProgressOption = (): Option => new Option('--no-progress', 'show no progress bar')
export const parallelOption = (count = 4): Option =>
  new Option('--parallel <n>', 'requests at once').argParser(countValue(PARALLEL_MAX)).default(count)
export const noTimesOption = (): Option =>
  new Option('--no-times', 'do not keep the times of files (metadata mtime)')

export function tokenCommand(done: Done): Command {
  return withDataAccess(new Command('token'))
    .description('print a bearer token, for many commands in a row (HOLDFAST_TOKEN) or for other programs')
    .addOption(jsonOption())
    .addHelpText('after', examples('token', 'token --json'))
    .action(async (options: TokenOptions) => {
      const { getToken } = await import('../objects/token-command.ts')
      done(await getToken(options))
    })
}

export function listCommand(done: Done): Command {
  return withDataAccess(new Command('ls'))
    .description('list buckets, or the objects of a bucket, folder by folder')
    .argument('[path]', 'bucket, or bucket/prefix')
    .option('-r, --recursive', 'all levels, not only the next one')
    .option('--versions', 'all versions and delete markers')
    .addOption(jsonLinesOption())
    .addHelpText(
      'after',
      examples('ls', 'ls photos/2026/', 'ls photos --recursive --json', 'ls photos/2026/ --versions'),
    )
    .action(async (path: string | undefined, options: ListOptions) => {
      const { list } = await import('../objects/list-command.ts')
      done(await list(path, options))
    })
}

export function putCommand(done: Done): Command {
  return withDataAccess(new Command('put'))
    .description('upload a file; large ones in parts, several at once')
    .argument('<file>', 'a file, or - for standard input')
    .argument(
      '<path>',
      'bucket/key, or a bucket or prefix with a slash at its end to keep the name of the file',
    )
    .option('--content-type <type>', 'the media type (default: by the extension of the key)')
    .option('--cache-control <value>', 'how long caches may keep it, such as max-age=3600')
    .option('--content-disposition <value>', 'how browsers offer it, such as attachment')
    .option('--content-encoding <coding>', 'how the file is packed already, such as gzip')
    .option('--content-language <tags>', 'the language of its readers, such as de')
    .option('--expires <date>', 'when caches drop it, as an HTTP date')
    .option('--meta <name=value>', 'user metadata; may be repeated', pairValue)
    .option('--if-match <etag>', 'only if the current object has this etag')
    .option('--if-none-match <etag>', 'only if the current object has another etag; *: only if there is none')
    .addOption(
      new Option(
        '--part-size <size>',
        'part size of a large file, such as 64MiB (default: 16MiB, or a 10,000th of the file if that is more)',
      ).argParser(partSizeValue),
    )
    .addOption(parallelOption())
    .option('--resume', 'continue an interrupted upload of this key')
    .addOption(noTimesOption())
    .addOption(noProgressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'put cat.jpg photos/2026/',
        'put backup.tar vault/backup.tar --resume',
        'put - logs/today.log < today.log',
        "put report.pdf reports/final.pdf --if-none-match '*' --meta author=me",
      ),
    )
    .action(async (file: string, path: string, options: PutOptions) => {
      const { putObject } = await import('../objects/put-command.ts')
      done(await putObject(file, path, options))
    })
}

function partSizeValue(text: string): number {
  const bytes = sizeValue(text)
  if (bytes >= PART_BYTES_MIN && bytes <= PART_BYTES_MAX) return bytes
  throw new InvalidArgumentError('expected 5MiB to 5GiB')
}

export function getCommand(done: Done): Command {
  return withDataAccess(new Command('get'))
    .description('download an object, or those that match a pattern, and verify them')
    .argument('<path>', "bucket/key, or a pattern such as 'photos/*.jpg' in quotes")
    .argument('[file]', 'a file or folder, or - for standard output (default: the last part of the key)')
    .addOption(versionOption())
    .addOption(noProgressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'get photos/2026/cat.jpg',
        'get vault/backup.tar - | tar x',
        "get 'photos/2026/*.jpg' ./pictures",
        'get photos/2026/cat.jpg old.jpg --version-id 01JD…',
      ),
    )
    .action(async (path: string, file: string | undefined, options: GetOptions) => {
      const { getMatching } = await import('../many/many-commands.ts')
      done(await getMatching(path, file, options))
    })
}

export function removeCommand(done: Done): Command {
  return withDataAccess(new Command('rm'))
    .description('remove an object, those that match a pattern, or everything below a prefix')
    .argument('<path>', "bucket/key, a pattern such as 'photos/*.jpg', or bucket/prefix with --recursive")
    .option('-r, --recursive', 'every object whose key has this prefix')
    .option('--all-versions', 'with --recursive: every version and delete marker, permanently')
    .addOption(versionOption().conflicts('recursive'))
    .addOption(dryRunOption())
    .addOption(jsonLinesOption())
    .addHelpText(
      'after',
      examples(
        'rm photos/2026/cat.jpg',
        'rm photos/2025/ --recursive --dry-run',
        'rm photos/2026/cat.jpg --version-id 01JD… --json',
      ),
    )
    .action(async (path: string, options: RemoveOptions) => {
      const { removeMatching } = await import('../many/many-commands.ts')
      done(await removeMatching(path, options))
    })
}

export function copyCommand(done: Done): Command {
  return withDataAccess(new Command('cp'))
    .description('copy an object, or those that match a pattern, within the store')
    .argument('<from>', "bucket/key, or a pattern such as 'photos/*.jpg' in quotes")
    .argument('<to>', 'bucket/key, or a bucket or prefix with a slash at its end to keep the name')
    .addOption(new Option('--version-id <id>', 'this version of the source, not the latest'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'cp photos/2026/cat.jpg photos/best/',
        'cp photos/cat.jpg archive/cat.jpg --version-id 01JD… --json',
      ),
    )
    .action(async (from: string, to: string, options: CopyOptions) => {
      const { copyMatching } = await import('../many/many-commands.ts')
      done(await copyMatching(from, to, options))
    })
}

export function statCommand(done: Done): Command {
  return withDataAccess(new Command('stat'))
    .description('show the properties of an object: size, checksums, metadata, locks')
    .argument('<path>', 'bucket/key')
    .addOption(versionOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('stat photos/2026/cat.jpg', 'stat photos/2026/cat.jpg --json'))
    .action(async (path: string, options: StatOptions) => {
      const { stat } = await import('../objects/object-commands.ts')
      done(await stat(path, options))
    })
}

export function signCommand(done: Done): Command {
  return withDataAccess(new Command('sign'))
    .description('create a URL that gives access to one object without credentials')
    .argument('<path>', 'bucket/key; for PUT also a prefix with a slash at its end')
    .addOption(
      new Option('--method <method>', 'the method that it allows').choices(['GET', 'PUT']).default('GET'),
    )
    .option('--ttl <duration>', 'lifetime, such as 15m or 7d (default: 15m)', durationValue)
    .option('--content-type <type>', 'PUT: the stored media type, regardless of the header of the upload')
    .option('--content-length-max <size>', 'PUT: larger uploads are refused, such as 10MiB', sizeValue)
    .option('--reason <text>', 'recorded in the audit log for the creation and each use')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'sign photos/2026/cat.jpg --ttl 1h',
        'sign inbox/ --method PUT --content-length-max 10MiB --json',
      ),
    )
    .action(async (path: string, options: SignOptions) => {
      const { sign } = await import('../objects/object-commands.ts')
      done(await sign(path, options))
    })
}
