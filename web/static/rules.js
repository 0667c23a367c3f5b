// The rules that the page needs at once: where a disc lands, and lines. The engine's positions
// check them (tests/golden/rules.json).

export class Board {
  constructor(size = "7x6", connect = 4) {
    const found = /^(\d{1,2})x(\d{1,2})$/.exec(size);
    if (!found) throw new Error(`a board is written 7x6, not ${size}`);
    [this.columns, this.rows] = found.slice(1).map(Number);
    this.connect = connect;
    const sides = [this.columns, this.rows];
    if (sides.some((side) => side < 4 || side > 16)) throw new Error("a board is 4x4 to 16x16");
    if (!(connect >= 3 && connect <= 6 && connect <= Math.max(...sides))) {
      throw new Error(`no line of ${connect} fits on ${size}`);
    }
    this.size = size;
  }
}

export class Position {
  // `moves` are columns from 0; `columns[c]` has the sides, 1 and 2, from the bottom up.
  constructor(board = new Board(), moves = []) {
    this.board = board;
    this.moves = [];
    this.columns = Array.from({ length: board.columns }, () => []);
    this.line = [];
    for (const column of moves) this.#add(column);
  }

  static parse(text, board = new Board()) {
    const words = board.columns > 9 ? text.split(",") : [...text];
    const moves = text.trim() === "" ? [] : words.map((word) => Number(word) - 1);
    return new Position(board, moves);
  }

  get notation() {
    return this.moves.map((column) => column + 1).join(this.board.columns > 9 ? "," : "");
  }

  get toMove() {
    return 1 + (this.moves.length % 2);
  }

  get winner() {
    return this.line.length ? 3 - this.toMove : null;
  }

  get isOver() {
    return this.legal.length === 0;
  }

  get legal() {
    const { columns, rows } = this.board;
    if (this.line.length) return [];
    return [...Array(columns).keys()].filter((column) => this.columns[column].length < rows);
  }

  // The row, from the bottom, on which a disc in this column lands.
  landing(column) {
    return this.columns[column].length;
  }

  at(column, row) {
    return this.columns[column]?.[row] ?? 0;
  }

  play(column) {
    return new Position(this.board, [...this.moves, column]);
  }

  // The columns in which a side would win if it were its turn.
  threats(side) {
    return this.legal.filter((column) => {
      const stack = this.columns[column];
      stack.push(side);
      const wins = this.#lineThrough(column, stack.length - 1).length > 0;
      stack.pop();
      return wins;
    });
  }

  #add(column) {
    if (!Number.isInteger(column) || !this.columns[column]) {
      throw new Error(`column ${column + 1} is not on the board`);
    }
    if (this.line.length) throw new Error("the game is over");
    const stack = this.columns[column];
    if (stack.length >= this.board.rows) throw new Error(`column ${column + 1} is full`);
    stack.push(this.toMove);
    this.moves.push(column);
    this.line = this.#lineThrough(column, stack.length - 1);
  }

  // The cells [column, row] of all lines through a stone.
  #lineThrough(column, row) {
    const side = this.at(column, row);
    const found = new Map();
    for (const [right, up] of [[1, 0], [0, 1], [1, 1], [1, -1]]) {
      const run = [[column, row]];
      for (const way of [1, -1]) {
        let [c, r] = [column + way * right, row + way * up];
        while (this.at(c, r) === side) {
          run.push([c, r]);
          [c, r] = [c + way * right, r + way * up];
        }
      }
      if (run.length >= this.board.connect) run.forEach((cell) => found.set(`${cell}`, cell));
    }
    return [...found.values()];
  }
}
