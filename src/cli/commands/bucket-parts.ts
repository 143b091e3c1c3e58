/**
 * `holdfast cors`, `notifications`, `deliveries`: their names, options and help.
 */
import { Command, Option } from 'commander'
import type { ConfigurationOptions } from '../objects/configuration-commands.ts'
import type { DeliveryOptions, ListDeliveriesOptions } from '../objects/delivery-commands.ts'
import { countValue, type Done, examples, jsonLinesOption, jsonOption, withDataAccess } from './options.ts'

const DELIVERIES_MAX = 1_000_000

const ofBucket = (name: string): Command => withDataAccess(new Command(name)).argument('<bucket>')

type Configurations = typeof import('../objects/configuration-commands.ts')
type Action = (bucket: string, options: ConfigurationOptions) => Promise<number>

function plain(done: Done, command: Command, of: (configurations: Configurations) => Action): Command {
  return command.addOption(jsonOption()).action(async (bucket: string, options: ConfigurationOptions) => {
    done(await of(await import('../objects/configuration-commands.ts'))(bucket, options))
  })
}

export function corsCommand(done: Done): Command {
  const get = ofBucket('get')
    .description('show the CORS rules of a bucket')
    .addHelpText('after', examples('cors get photos > cors.json'))
  const remove = ofBucket('delete')
    .description('remove the CORS rules of a bucket')
    .addHelpText('after', examples('cors delete photos'))
  return new Command('cors')
    .description('which web pages may use a bucket')
    .addCommand(plain(done, get, ({ getCors }) => getCors))
    .addCommand(
      ofBucket('set')
        .description('set the CORS rules of a bucket; replaces the present ones')
        .argument('<file>', 'a JSON file, or - for standard input')
        .addOption(jsonOption())
        .addHelpText('after', examples('cors set photos cors.json'))
        .action(async (bucket: string, file: string, options: ConfigurationOptions) => {
          const { setCors } = await import('../objects/configuration-commands.ts')
          done(await setCors(bucket, file, options))
        }),
    )
    .addCommand(plain(done, remove, ({ deleteCors }) => deleteCors))
}

export function notificationsCommand(done: Done): Command {
  const get = ofBucket('get')
    .description('show where the events of a bucket are sent')
    .addHelpText(
      'after',
      examples('notifications get photos', 'notifications get photos --json > hooks.json'),
    )
  const remove = ofBucket('delete')
    .description('send no events of a bucket any more')
    .addHelpText('after', examples('notifications delete photos'))
  return new Command('notifications')
    .description('webhooks that receive the events of a bucket')
    .addCommand(plain(done, get, ({ getNotifications }) => getNotifications))
    .addCommand(
      ofBucket('set')
        .description('set the webhooks of a bucket; replaces the present ones')
        .argument('<file>', 'a JSON file, or - for standard input')
        .addOption(jsonOption())
        .addHelpText('after', examples('notifications set photos hooks.json'))
        .action(async (bucket: string, file: string, options: ConfigurationOptions) => {
          const { setNotifications } = await import('../objects/configuration-commands.ts')
          done(await setNotifications(bucket, file, options))
        }),
    )
    .addCommand(plain(done, remove, ({ deleteNotifications }) => deleteNotifications))
    .addCommand(
      ofBucket('test')
        .description('send a test event to one webhook')
        .argument('<config>', 'the id of the webhook')
        .addOption(jsonOption())
        .addHelpText('after', examples('notifications test photos app'))
        .action(async (bucket: string, config: string, options: ConfigurationOptions) => {
          const { testNotification } = await import('../objects/configuration-commands.ts')
          done(await testNotification(bucket, config, options))
        }),
    )
}

export function deliveriesCommand(done: Done): Command {
  return new Command('deliveries')
    .description('what webhooks have received, and what they have not')
    .addCommand(listCommand(done))
    .addCommand(
      ofBucket('show')
        .description('show one delivery')
        .argument('<delivery>', 'its id')
        .addOption(jsonOption())
        .addHelpText('after', examples('deliveries show photos evt_01JD…'))
        .action(async (bucket: string, id: string, options: DeliveryOptions) => {
          const { showDelivery } = await import('../objects/delivery-commands.ts')
          done(await showDelivery(bucket, id, options))
        }),
    )
    .addCommand(
      ofBucket('redeliver')
        .description('send an event once more, immediately')
        .argument('<delivery>', 'its id')
        .addOption(jsonOption())
        .addHelpText('after', examples('deliveries redeliver photos evt_01JD…'))
        .action(async (bucket: string, id: string, options: DeliveryOptions) => {
          const { redeliver } = await import('../objects/delivery-commands.ts')
          done(await redeliver(bucket, id, options))
        }),
    )
}

function listCommand(done: Done): Command {
  return ofBucket('list')
    .description('list deliveries, the newest event first')
    .option('--config <id>', 'only those of this webhook')
    .addOption(new Option('--status <status>', 'only these').choices(['pending', 'delivered', 'dead']))
    .option('--limit <n>', 'no more than so many', countValue(DELIVERIES_MAX))
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('deliveries list photos --status dead --limit 20'))
    .action(async (bucket: string, options: ListDeliveriesOptions) => {
      const { listDeliveries } = await import('../objects/delivery-commands.ts')
      done(await listDeliveries(bucket, options))
    })
}
