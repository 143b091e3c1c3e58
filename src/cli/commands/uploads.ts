/**
 * `holdfast uploads`: its names, options and help.
 */
import { Command, Option } from 'commander'
import type { AbortOptions, UploadsOptions } from '../objects/upload-commands.ts'
import { type Done, examples, jsonLinesOption, withDataAccess } from './options.ts'

export function uploadsCommand(done: Done): Command {
  return new Command('uploads')
    .description('uploads in parts that were not completed')
    .addCommand(
      withDataAccess(new Command('list'))
        .description('list unfinished uploads; each is given up after seven days')
        .argument('<path>', 'bucket, or bucket/prefix')
        .option('--parts', 'with the number and the bytes of their parts; one request more for each')
        .addOption(jsonLinesOption())
        .addHelpText('after', examples('uploads list vault', 'uploads list vault/backups/ --parts'))
        .action(async (path: string, options: UploadsOptions) => {
          const { listUploads } = await import('../objects/upload-commands.ts')
          done(await listUploads(path, options))
        }),
    )
    .addCommand(
      withDataAccess(new Command('abort'))
        .description('abort the unfinished uploads of a key; their parts are removed')
        .argument('<path>', 'bucket/key, or bucket/prefix with --all')
        .addOption(new Option('--upload-id <id>', 'only this upload of the key').conflicts('all'))
        .option('--all', 'every upload below the prefix')
        .addOption(jsonLinesOption())
        .addHelpText('after', examples('uploads abort vault/backup.tar', 'uploads abort vault/old/ --all'))
        .action(async (path: string, options: AbortOptions) => {
          const { abortUploads } = await import('../objects/upload-commands.ts')
          done(await abortUploads(path, options))
        }),
    )
}
