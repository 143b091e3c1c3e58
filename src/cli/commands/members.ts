/**
 * `holdfast cluster status` and the commands that change the members: their names, options and help.
 */
import { Command } from 'commander'
import type { MemberChange, MemberOptions, StatusOptions } from '../admin/membership-commands.ts'
import type { StartOptions } from '../admin/operation-commands.ts'
import {
  countValue,
  type Done,
  dryRunOption,
  examples,
  jsonOption,
  reasonOption,
  withAdminAccess,
} from './options.ts'
import { WEIGHT_MAX } from '../../state-machine/members/records.ts'
import { withWait } from './wait-options.ts'

const INDEX_MAX = 999_999_999

export function statusCommand(done: Done): Command {
  return withAdminAccess(new Command('status'))
    .description('show the members, their roles and the leader')
    .option('--local', 'the view of the queried node; works without a leader')
    .addOption(jsonOption())
    .addHelpText('after', examples('cluster status', 'cluster status --local --json'))
    .action(async (options: StatusOptions) => {
      const { showStatus } = await import('../admin/membership-commands.ts')
      done(await showStatus(options))
    })
}

export function memberCommands(done: Done): readonly Command[] {
  return [
    joinCommand(done),
    changing('demote', done)
      .description('take the vote of a member and move its copies away; it cannot get the vote back')
      .option('--confirm <nodeId>', 'its name again: this cannot be undone (prompted for on a terminal)')
      .addHelpText(
        'after',
        examples(
          "cluster demote n2 --reason 'old disks' --dry-run",
          "cluster demote n2 --confirm n2 --reason 'old disks' --wait",
        ),
      ),
    confirmed('lost', done)
      .description('give up a dead member permanently; its copies are made again on other nodes')
      .addHelpText('after', examples("cluster lost n2 --confirm n2 --reason 'it burnt' --wait")),
    confirmed('remove', done)
      .description('remove a member without copies, permanently')
      .addHelpText('after', examples("cluster remove n2 --confirm n2 --reason 'sold'")),
    replaceCommand(done),
    transferCommand(done),
  ]
}

function changing(kind: MemberChange, done: Done): Command {
  return withWait(withAdminAccess(new Command(kind)))
    .argument('<nodeId>')
    .addOption(reasonOption())
    .option('--expect <index>', 'refuse if the members have changed after this index', countValue(INDEX_MAX))
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .action(async (nodeId: string, options: MemberOptions) => {
      const { changeMember } = await import('../admin/membership-commands.ts')
      done(await changeMember(kind, nodeId, options))
    })
}

const confirmed = (kind: MemberChange, done: Done): Command =>
  changing(kind, done).requiredOption('--confirm <nodeId>', 'its name again: this cannot be undone')

function placed(command: Command): Command {
  return command
    .requiredOption('--peer <host:port>', 'the peer address of the new node')
    .option('--zone <zone>', 'the failure zone of the node, such as a rack')
    .option('--weight <n>', 'its relative share of copies (default: 1)', countValue(WEIGHT_MAX))
    .option('--fingerprint <sha256>', 'refuse if its certificate is not this one')
}

function joinCommand(done: Done): Command {
  return placed(changing('join', done))
    .description('add a node that was started with --join')
    .addHelpText(
      'after',
      examples("cluster join n4 --peer 10.0.0.4:9002 --zone rack-2 --reason 'more capacity' --wait"),
    )
}

function replaceCommand(done: Done): Command {
  return placed(confirmed('replace', done))
    .requiredOption('--with <nodeId>', 'the name of the new node')
    .description('replace a member, running or dead, by a node that was started with --join')
    .addHelpText(
      'after',
      examples("cluster replace n2 --confirm n2 --with n4 --peer 10.0.0.4:9002 --reason 'it burnt' --wait"),
    )
}

function transferCommand(done: Done): Command {
  return withAdminAccess(new Command('transfer'))
    .description('transfer leadership to another voter')
    .argument('[nodeId]')
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText('after', examples("cluster transfer n3 --reason 'n1 is to be rebooted'"))
    .action(async (nodeId: string | undefined, options: StartOptions) => {
      const { transferLeadership } = await import('../admin/membership-commands.ts')
      done(await transferLeadership(nodeId, options))
    })
}
