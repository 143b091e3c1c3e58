/**
 * `holdfast bucket`: its names, options and help.
 */
import { Command } from 'commander'
import type { BucketOptions, CreateBucketOptions, ObjectLockOptions } from '../objects/bucket-commands.ts'
import { bucketLifecycleCommand } from './bucket-lifecycle.ts'
import { countValue, type Done, examples, jsonOption, withDataAccess } from './options.ts'

export function bucketCommand(done: Done): Command {
  return new Command('bucket')
    .description('create, show, change and delete buckets; holdfast ls lists them')
    .addCommand(createCommand(done))
    .addCommand(getCommand(done))
    .addCommand(usageCommand(done))
    .addCommand(deleteCommand(done))
    .addCommand(versioningCommand(done))
    .addCommand(objectLockCommand(done))
    .addCommand(bucketLifecycleCommand(done))
}

function createCommand(done: Done): Command {
  return withDataAccess(new Command('create'))
    .description('create a private bucket')
    .argument('<name>', '3 to 63 of a-z, 0-9, "." and "-"')
    .option('--versioning', 'keep versions')
    .option('--object-lock', 'allow retention and legal holds; keeps versions')
    .addOption(jsonOption())
    .addHelpText('after', examples('bucket create photos --versioning'))
    .action(async (name: string, options: CreateBucketOptions) => {
      const { createBucket } = await import('../objects/bucket-commands.ts')
      done(await createBucket(name, options))
    })
}

function getCommand(done: Done): Command {
  return withDataAccess(new Command('get'))
    .description('show a bucket')
    .argument('<bucket>')
    .addOption(jsonOption())
    .addHelpText('after', examples('bucket get photos'))
    .action(async (name: string, options: BucketOptions) => {
      const { getBucket } = await import('../objects/bucket-commands.ts')
      done(await getBucket(name, options))
    })
}

function usageCommand(done: Done): Command {
  return withDataAccess(new Command('usage'))
    .description('show the exact counts of a bucket, or of all buckets that the key may read as a whole')
    .argument('[bucket]')
    .addOption(jsonOption())
    .addHelpText('after', examples('bucket usage', 'bucket usage photos --json'))
    .action(async (name: string | undefined, options: BucketOptions) => {
      const { showBucketUsage, showBucketUsages } = await import('../objects/bucket-usage.ts')
      done(await (name === undefined ? showBucketUsages(options) : showBucketUsage(name, options)))
    })
}

function deleteCommand(done: Done): Command {
  return withDataAccess(new Command('delete'))
    .description('delete an empty bucket')
    .argument('<bucket>')
    .addOption(jsonOption())
    .addHelpText('after', examples('bucket delete photos'))
    .action(async (name: string, options: BucketOptions) => {
      const { deleteBucket } = await import('../objects/bucket-commands.ts')
      done(await deleteBucket(name, options))
    })
}

const STATUSES: Readonly<Record<string, string>> = { on: 'Enabled', off: 'Suspended' }

function versioningCommand(done: Done): Command {
  const command = withDataAccess(new Command('versioning')).description(
    'show whether versions of new objects are kept, or start or stop it',
  )
  return command
    .argument('<bucket>')
    .addArgument(command.createArgument('[state]').choices(Object.keys(STATUSES)))
    .addOption(jsonOption())
    .addHelpText('after', examples('bucket versioning photos on'))
    .action(async (name: string, state: string | undefined, options: BucketOptions) => {
      const { setVersioning } = await import('../objects/bucket-commands.ts')
      done(await setVersioning(name, state === undefined ? null : (STATUSES[state] ?? state), options))
    })
}

function objectLockCommand(done: Done): Command {
  const command = withDataAccess(new Command('object-lock')).description(
    'switch object lock on for good, and set the retention that new versions get, or none',
  )
  return command
    .argument('<bucket>')
    .addOption(
      command.createOption('--mode <mode>', 'of the default retention').choices(['GOVERNANCE', 'COMPLIANCE']),
    )
    .option('--days <n>', 'how long, in days', countValue(36_500))
    .option('--years <n>', 'how long, in years of 365 days', countValue(100))
    .addOption(jsonOption())
    .addHelpText('after', examples('bucket object-lock photos --mode GOVERNANCE --days 30'))
    .action(async (name: string, options: ObjectLockOptions) => {
      const { setObjectLock } = await import('../objects/bucket-commands.ts')
      done(await setObjectLock(name, options))
    })
}
