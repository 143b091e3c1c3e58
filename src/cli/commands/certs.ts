/**
 * `holdfast certs`: its names, options and help.
 */
import { Command, Option } from 'commander'
import type { InitCertsOptions, IssueCertOptions } from '../certificates/certs-command.ts'
import { AUTHORITY_DAYS, NODE_DAYS } from '../base/certificate-days.ts'
import { countValue, type Done, examples, jsonOption } from './options.ts'

const DAYS_MAX = 7300

const dirOption = (): Option =>
  new Option('--dir <dir>', 'the folder of the authority, with ca.pem and ca.key').makeOptionMandatory()
const daysOption = (days: number): Option =>
  new Option('--days <n>', `valid for this many days, 1 to ${DAYS_MAX}`)
    .argParser(countValue(DAYS_MAX))
    .default(days)

export function certsCommand(done: Done): Command {
  const group = new Command('certs').description('certificates by which nodes authenticate each other')
  group.addCommand(initCommand(done))
  group.addCommand(issueCommand(done))
  group
    .command('show <file>')
    .description('show the identities and the validity of the certificates in a PEM file')
    .addOption(jsonOption())
    .addHelpText('after', examples('certs show certs/n1.pem'))
    .action(async (file: string, options: { json?: boolean }) => {
      const { showCerts } = await import('../certificates/certs-command.ts')
      done(await showCerts(file, options))
    })
  return group
}

function initCommand(done: Done): Command {
  return new Command('init')
    .description('create the certificate authority of a cluster')
    .addOption(dirOption())
    .option('--cluster-id <id>', 'the cluster.id of its nodes (default: a new random one)')
    .addOption(daysOption(AUTHORITY_DAYS))
    .addOption(jsonOption())
    .addHelpText('after', examples('certs init --dir certs'))
    .action(async (options: InitCertsOptions) => {
      const { initCerts } = await import('../certificates/certs-command.ts')
      done(await initCerts(options))
    })
}

function issueCommand(done: Done): Command {
  return new Command('issue')
    .description('create the certificate and key of one node')
    .addOption(dirOption())
    .requiredOption('--node <id>', 'the node.id of the node')
    .addOption(
      new Option('--host <name>', 'a name or address that clients use; may be repeated')
        .argParser((host: string, before: readonly string[]) => [...before, host])
        .default([]),
    )
    .option('--out <dir>', 'the folder of the new files (default: that of the authority)')
    .addOption(daysOption(NODE_DAYS))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `\nIt expires no later than the authority. Nodes ignore the hosts; clients of a listener that uses it check them.\n${examples('certs issue --dir certs --node n1 --host 10.0.0.1 --host n1.example.net')}`,
    )
    .action(async (options: IssueCertOptions) => {
      const { issueCert } = await import('../certificates/certs-command.ts')
      done(await issueCert(options))
    })
}
