/**
 * `holdfast login`, `use`, `profiles`, `logout`: their names, options and help.
 */
import { Command } from 'commander'
import type { LoginOptions, ProfileOptions } from '../profiles/profile-commands.ts'
import {
  caOption,
  clusterFileOption,
  type Done,
  endpointOption,
  examples,
  jsonLinesOption,
  jsonOption,
} from './options.ts'

export function loginCommand(done: Done): Command {
  return new Command('login')
    .description(
      'save addresses and credentials as a profile, after the service has accepted them, and use it',
    )
    .argument('[name]', 'the name of the profile', 'default')
    .addOption(endpointOption('--endpoint <urls>'))
    .option('--access-key-id <id>', 'the access key (env: HOLDFAST_ACCESS_KEY_ID)')
    .option(
      '--secret-file <file>',
      'a file with its secret, or - for standard input (default: HOLDFAST_SECRET_KEY)',
    )
    .option('--admin-endpoint <urls>', 'admin addresses of nodes (env: HOLDFAST_ADMIN_ENDPOINT)')
    .option('--token-file <file>', 'a file with an admin token (default: HOLDFAST_ADMIN_TOKEN)')
    .option('--tenant <id>', 'the tenant, on the admin API (env: HOLDFAST_TENANT)')
    .addOption(caOption())
    .addOption(clusterFileOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `${examples(
        'login',
        'login work --endpoint https://store.example:9000 --ca-file ca.pem --access-key-id AK7Q3M… --secret-file secret',
        'login local --cluster-file data/cluster.json',
      )}

On a terminal it asks for what is missing.`,
    )
    .action(async (name: string, options: LoginOptions) => {
      const { login } = await import('../profiles/profile-commands.ts')
      done(await login(name, options))
    })
}

export function useCommand(done: Done): Command {
  return new Command('use')
    .description('use another profile from now on')
    .argument('<name>')
    .addOption(jsonOption())
    .addHelpText('after', examples('use work'))
    .action(async (name: string, options: ProfileOptions) => {
      const { use } = await import('../profiles/profile-commands.ts')
      done(await use(name, options))
    })
}

export function profilesCommand(done: Done): Command {
  return new Command('profiles')
    .description('list the profiles, without secrets')
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('profiles'))
    .action(async (options: ProfileOptions) => {
      const { listProfiles } = await import('../profiles/profile-commands.ts')
      done(listProfiles(options))
    })
}

export function logoutCommand(done: Done): Command {
  return new Command('logout')
    .description('remove a profile and its token')
    .argument('[name]', 'the name of the profile (default: the one in use)')
    .addOption(jsonOption())
    .addHelpText('after', examples('logout work'))
    .action(async (name: string | undefined, options: ProfileOptions) => {
      const { logout } = await import('../profiles/profile-commands.ts')
      done(await logout(name, options))
    })
}
