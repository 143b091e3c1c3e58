/**
 * `holdfast import`: its names, options and help.
 */
import { Command, InvalidArgumentError, Option } from 'commander'
import type { ImportOptions } from '../import/import-command.ts'
import { PART_BYTES_DEFAULT, PART_BYTES_MIN } from '../../client/parts.ts'
import { noProgressOption, parallelOption } from './objects.ts'
import {
  caOption,
  clusterFileOption,
  endpointOption,
  profileOption,
  type Done,
  dryRunOption,
  examples,
  jsonLinesOption,
  sizeValue,
} from './options.ts'

/** Three parts of every object under way are in memory. */
const PART_BYTES_MAX = 128 * 1024 * 1024

export function importCommand(done: Done): Command {
  return sourceOptions(new Command('import'))
    .description(
      'copy buckets of another S3 store: bytes, types, headers, metadata and tags, verified, and on where it ended',
    )
    .argument('<from>', 's3://bucket or s3://bucket/prefix of the other store, or s3:// with --all')
    .option(
      '--into <path>',
      'bucket, or bucket/prefix in place of the prefix of <from> (default: the same names)',
    )
    .option('--all', 'every bucket of the other store')
    .option('--create', 'create buckets that are missing')
    .option('--overwrite', 'replace objects that somebody else wrote, too')
    .addOption(
      new Option('--versions <which>', 'versions to copy: of each object the latest')
        .choices(['latest'])
        .default('latest'),
    )
    .option('--no-tags', 'leave tags behind')
    .addOption(
      new Option('--part-size <size>', 'larger objects are copied in parts of this size, 5MiB to 128MiB')
        .argParser(partSizeValue)
        .default(PART_BYTES_DEFAULT, '16MiB'),
    )
    .option('--bytes-per-second <size>', 'read no faster than this, such as 20MiB', rateValue)
    .option('--state-folder <dir>', 'where large objects under way are written down', '.holdfast-import')
    .addOption(endpointOption('--target-endpoint <urls>'))
    .addOption(caOption())
    .addOption(profileOption())
    .addOption(clusterFileOption())
    .addOption(dryRunOption())
    .addOption(parallelOption())
    .addOption(noProgressOption())
    .addOption(jsonLinesOption())
    .addHelpText(
      'after',
      `${examples(
        'import s3://photos --endpoint https://minio.example.net:9000 --create --dry-run',
        'import s3://photos/2026 --endpoint https://s3.eu-central-1.amazonaws.com --region eu-central-1 --into archive/2026',
        'import s3:// --all --endpoint https://minio.example.net:9000 --create --source-key-file minio.env --json',
      )}

The key of the other store comes from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or from --source-key-file.`,
    )
    .action(async (from: string, options: ImportOptions) => {
      const { importBuckets } = await import('../import/import-command.ts')
      done(await importBuckets(from, options))
    })
}

function sourceOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--endpoint <url>', 'address of the other store, without a bucket').makeOptionMandatory(),
    )
    .addOption(
      new Option('--region <name>', 'region of the other store').env('AWS_REGION').default('us-east-1'),
    )
    .option('--virtual-host', 'the buckets of the other store are hosts: bucket.example.net')
    .option('--source-key-file <file>', 'a file with AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=…')
    .option('--source-ca <file>', 'the CA certificate of the other store (PEM)')
    .option('--no-etag-md5', 'the etags of the other store are no MD5s of the bytes')
}

function partSizeValue(text: string): number {
  const bytes = sizeValue(text)
  if (bytes >= PART_BYTES_MIN && bytes <= PART_BYTES_MAX) return bytes
  throw new InvalidArgumentError('expected 5MiB to 128MiB')
}

function rateValue(text: string): number {
  const bytes = sizeValue(text)
  if (bytes > 0) return bytes
  throw new InvalidArgumentError('expected at least 1')
}
