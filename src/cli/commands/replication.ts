/**
 * `holdfast replication`: its names, options and help.
 */
import { Command } from 'commander'
import type { ReplicationOptions, SetReplicationOptions } from '../objects/replication-commands.ts'
import { type Done, examples, jsonLinesOption, jsonOption, withDataAccess } from './options.ts'

type Actions = typeof import('../objects/replication-commands.ts')
type BucketAction = (bucket: string, options: ReplicationOptions) => Promise<number>

export function replicationCommand(done: Done): Command {
  return new Command('replication')
    .description('a second site: what of a bucket is sent there, and what is there')
    .addCommand(setCommand(done))
    .addCommand(ofBucket('show', 'show target and rules', (all) => all.showReplication, done))
    .addCommand(ofBucket('status', 'show what is not there yet', (all) => all.showStatus, done))
    .addCommand(ofBucket('diff', 'compare a bucket with its other site', (all) => all.diffReplication, done))
    .addCommand(ofBucket('resync', 'send what a bucket holds', (all) => all.resyncReplication, done))
    .addCommand(ofBucket('retry', 'send again what was given up', (all) => all.retryReplication, done))
    .addCommand(ofBucket('remove', 'end the replication of a bucket', (all) => all.removeReplication, done))
}

function setCommand(done: Done): Command {
  return withDataAccess(new Command('set'))
    .description('replicate a bucket to another Holdfast or S3 store; replaces what is set')
    .argument('[bucket]')
    .requiredOption('--to <url>', 'the address of the other store, without a bucket')
    .option('--target-bucket <name>', 'the bucket there (default: the same name)')
    .option('--target-key-file <file>', 'a file with AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=…')
    .option('--region <name>', 'the region of the bucket there')
    .option('--virtual-host', 'the bucket is part of the name of the host')
    .option('--rules <file>', 'a JSON file with rules, or - for standard input (default: everything)')
    .option('--existing', 'send what the bucket holds already, too')
    .option('--all-buckets', 'every bucket of the tenant, each to one of its own name')
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('replication set photos --to https://s3.other.example --existing'))
    .action(async (bucket: string | undefined, options: SetReplicationOptions) => {
      const { setReplication } = await import('../objects/replication-commands.ts')
      done(await setReplication(bucket, options))
    })
}

function ofBucket(name: string, what: string, pick: (all: Actions) => BucketAction, done: Done): Command {
  return withDataAccess(new Command(name))
    .description(what)
    .argument('<bucket>')
    .addOption(jsonOption())
    .addHelpText('after', examples(`replication ${name} photos`))
    .action(async (bucket: string, options: ReplicationOptions) => {
      done(await pick(await import('../objects/replication-commands.ts'))(bucket, options))
    })
}
