/**
 * `holdfast bucket lifecycle`: its names, options and help.
 */
import { Command } from 'commander'
import type { LifecycleOptions, PreviewOptions } from '../objects/lifecycle-commands.ts'
import { countValue, type Done, examples, jsonOption, withDataAccess } from './options.ts'

const ITEMS_MAX = 1_000_000

const ofBucket = (name: string): Command => withDataAccess(new Command(name)).argument('<bucket>')

export function bucketLifecycleCommand(done: Done): Command {
  return new Command('lifecycle')
    .description('what is removed from a bucket by age')
    .addCommand(getCommand(done))
    .addCommand(setCommand(done))
    .addCommand(deleteCommand(done))
    .addCommand(previewCommand(done))
}

function getCommand(done: Done): Command {
  return ofBucket('get')
    .description('show the lifecycle rules of a bucket')
    .addOption(jsonOption())
    .addHelpText('after', examples('bucket lifecycle get photos > rules.json'))
    .action(async (bucket: string, options: LifecycleOptions) => {
      const { getLifecycle } = await import('../objects/lifecycle-commands.ts')
      done(await getLifecycle(bucket, options))
    })
}

function setCommand(done: Done): Command {
  return ofBucket('set')
    .description('set the lifecycle rules of a bucket; replaces the present ones')
    .argument('<file>', 'a JSON file, or - for standard input')
    .addOption(jsonOption())
    .addHelpText('after', examples('bucket lifecycle set photos rules.json'))
    .action(async (bucket: string, file: string, options: LifecycleOptions) => {
      const { setLifecycle } = await import('../objects/lifecycle-commands.ts')
      done(await setLifecycle(bucket, file, options))
    })
}

function deleteCommand(done: Done): Command {
  return ofBucket('delete')
    .description('remove the lifecycle rules of a bucket')
    .addOption(jsonOption())
    .addHelpText('after', examples('bucket lifecycle delete photos'))
    .action(async (bucket: string, options: LifecycleOptions) => {
      const { deleteLifecycle } = await import('../objects/lifecycle-commands.ts')
      done(await deleteLifecycle(bucket, options))
    })
}

function previewCommand(done: Done): Command {
  return ofBucket('preview')
    .description('show what the rules of a bucket, or those of a file, would do now; changes nothing')
    .argument('[file]', 'a JSON file with rules, or - for standard input')
    .option('--limit <n>', 'show no more than so many versions and uploads', countValue(ITEMS_MAX))
    .addOption(jsonOption())
    .addHelpText('after', examples('bucket lifecycle preview photos rules.json'))
    .action(async (bucket: string, file: string | undefined, options: PreviewOptions) => {
      const { previewLifecycle } = await import('../objects/lifecycle-commands.ts')
      done(await previewLifecycle(bucket, file, options))
    })
}
