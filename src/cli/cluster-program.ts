/**
 * `holdfast cluster ...` as the command line knows it: names, options, help. What each does stands in cluster-command.ts.
 */
import { Command, Option } from 'commander'
import type { AskOptions, ChangeOptions } from './cluster-command.ts'

type Done = (exitCode: number) => void

function asking(command: Command): Command {
  return command
    .addOption(
      new Option('--admin-endpoint <urls>', 'admin addresses of nodes, separated by commas')
        .env('HOLDFAST_ADMIN_ENDPOINT')
        .default('http://127.0.0.1:9001'),
    )
    .option('--token-file <file>', 'a file with an admin token (otherwise HOLDFAST_ADMIN_TOKEN)')
    .addOption(new Option('--json', 'print one JSON object'))
}

function changing(command: Command): Command {
  return asking(command)
    .requiredOption('--reason <text>', 'why, for the audit log')
    .option('--dry-run', 'show what would be done, change nothing')
    .option('--wait', 'stay until it has ended, and show how far it is')
    .addOption(
      new Option('--expect <configIndex>', 'refuse when the members have changed since').argParser(Number),
    )
}

function newcomer(command: Command): Command {
  return command
    .requiredOption('--peer <host:port>', 'where the new node listens for nodes')
    .option('--zone <zone>', 'what fails together with it')
    .addOption(new Option('--weight <n>', 'its share of copies, 1 unless given').argParser(Number))
}

export function clusterCommand(done: Done): Command {
  const group = new Command('cluster').description('who belongs to the cluster; needs an owner token')
  asking(group.command('status').description('members, votes, who leads'))
    .option('--local', 'as the asked node has it, also when nobody leads')
    .action(async (options: AskOptions & { local?: boolean }) => {
      const { showStatus } = await import('./cluster-command.ts')
      done(await showStatus(options))
    })
  asking(group.command('operations').description('long operations and how far they are')).action(
    async (options: AskOptions) => {
      const { showOperations } = await import('./cluster-command.ts')
      done(await showOperations(options))
    },
  )
  changing(
    newcomer(group.command('join <nodeId>').description('take a node in that was started with --join')),
  )
    .addHelpText(
      'after',
      '\nExample:\n  holdfast cluster join n4 --peer 10.0.0.4:9002 --zone rack-2 --reason "more room" --wait',
    )
    .action(act(done, 'join'))
  changing(group.command('demote <nodeId>').description('take its vote and move its copies away')).action(
    act(done, 'demote'),
  )
  const confirmed = (command: Command): Command =>
    changing(command).requiredOption('--confirm <nodeId>', 'its name again: this cannot be taken back')
  confirmed(group.command('lost <nodeId>').description('give a dead member up for ever')).action(
    act(done, 'lost'),
  )
  confirmed(group.command('remove <nodeId>').description('remove an empty member for ever')).action(
    act(done, 'remove'),
  )
  confirmed(
    newcomer(group.command('replace <nodeId>').description('put a waiting node in its place, dead or not')),
  )
    .requiredOption('--with <nodeId>', 'the name of the new node')
    .action(act(done, 'replace'))
  asking(group.command('transfer [nodeId]').description('hand over the lead'))
    .requiredOption('--reason <text>', 'why, for the audit log')
    .option('--dry-run', 'show what would be done, change nothing')
    .action(async (nodeId: string | undefined, options: ChangeOptions) => {
      const { transfer } = await import('./cluster-command.ts')
      done(await transfer(nodeId, options))
    })
  return group
}

function act(done: Done, kind: 'join' | 'demote' | 'lost' | 'remove' | 'replace') {
  return async (nodeId: string, options: ChangeOptions): Promise<void> => {
    const { changeMember } = await import('./cluster-command.ts')
    done(await changeMember(kind, nodeId, options))
  }
}
