import type { Event } from '../support/socket_client.ts';
import { TestMqttClient } from './mqtt_client.ts';

/** A client of a broker that handles methods and calls them, in one style of topics. It receives both styles. */
export class MqttRpc {
  readonly client: TestMqttClient;
  readonly root: string;
  /** Ids of the client as a handler and as a caller. */
  readonly id: string;
  #calls = 0;
  #answered = 0;

  private constructor(client: TestMqttClient, { root, id }: { root: string; id: string }) {
    this.client = client;
    this.root = root;
    this.id = id;
  }

  /** `slash`: the prefix of topics, a slash or an empty string. */
  static async open(port: number, { slash, id }: { slash: string; id: string }): Promise<MqttRpc> {
    const client = await TestMqttClient.open(port);
    const rpc = new MqttRpc(client, { root: `${slash}omlox/jsonrpc/rpc`, id });
    const filters = [`+/request/${id}`, `+/response/${id}`, 'available/+'].map(
      (filter) => `omlox/jsonrpc/rpc/${filter}`,
    );
    await client.subscribe(...filters, ...filters.map((filter) => `/${filter}`));
    return rpc;
  }

  async announce(method: string): Promise<void> {
    const said = { id: this.id, method_name: method };
    const properties = { messageExpiryInterval: 120 };
    await this.client.publish(`${this.root}/available/${level(method)}`, said, { retain: true, properties });
  }

  async withdraw(method: string): Promise<void> {
    await this.client.publish(`${this.root}/available/${level(method)}`, '', { retain: true });
  }

  /** Returns the next request that it has not answered yet. */
  async request(): Promise<Event> {
    const isRequest = ({ topic }: { topic: string }): boolean => topic.includes('/request/');
    const place = this.#answered++;
    const received = await this.client.next((one) => this.client.received.filter(isRequest).indexOf(one) === place);
    return received.payload as Event;
  }

  /** Answers the next request, which it returns. */
  async answer(said: object): Promise<Event> {
    const request = await this.request();
    const under = `${this.root}/${level(request.method)}/response/${level(request.params._caller_id)}`;
    await this.client.publish(under, { jsonrpc: '2.0', id: request.id, ...said });
    return request;
  }

  /** Calls all handlers of a method, or one. Resolves with the expected number of responses. */
  async call(
    method: string,
    { params = {}, handlerId, expected = 1 }: { params?: object; handlerId?: string; expected?: number } = {},
  ): Promise<Event[]> {
    const id = `call ${++this.#calls}`;
    const under = `${this.root}/${level(method)}/request${handlerId === undefined ? '' : `/${level(handlerId)}`}`;
    await this.client.publish(under, { jsonrpc: '2.0', id, method, params: { _caller_id: this.id, ...params } });
    const responses = () =>
      this.client.received.filter(({ topic, payload }) => topic.includes('/response/') && payload?.id === id);
    await this.client.next(() => responses().length >= expected);
    return responses().map(({ payload }) => payload as Event);
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

function level(id: string): string {
  return encodeURIComponent(id);
}
