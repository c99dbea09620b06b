/** The parts of the API of Node-RED that these nodes use. */

export interface Message {
  topic?: unknown;
  payload?: unknown;
  [name: string]: unknown;
}

export type NodeStatus =
  | { readonly fill: 'green' | 'yellow' | 'red'; readonly shape: 'dot' | 'ring'; readonly text: string }
  | Record<string, never>;

/** A node of a flow, which the constructor of its type extends. */
export interface Node {
  readonly credentials?: Readonly<Record<string, string | undefined>>;
  send(message: Message): void;
  status(status: NodeStatus): void;
  warn(text: string): void;
  /** Catch nodes receive errors with a message only. */
  error(text: string, message?: Message): void;
  on(event: 'input', listener: InputListener): void;
  on(event: 'close', listener: (done: () => void) => void): void;
}

export type InputListener = (message: Message, send: (message: Message) => void, done: (error?: Error) => void) => void;

/** Settings of a node, as the editor has saved them. */
export type Config = Readonly<Record<string, unknown>>;

export interface Red {
  readonly nodes: {
    createNode(node: Node, config: Config): void;
    getNode(id: string): Node | null | undefined;
    registerType(
      type: string,
      open: (this: Node, config: Config) => void,
      options?: { readonly credentials: Readonly<Record<string, { readonly type: 'text' | 'password' }>> },
    ): void;
  };
}
